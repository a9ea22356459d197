#pragma once

#include "storage/power_trial.hpp"
#include "storage/temporary_directory.hpp"

#include <muster/storage/sqlite_storage.hpp>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

/// Damage to the files of a store, as disks and people cause it. A damaged store must either be
/// refused, or give exactly the acknowledged data.

namespace muster::test {

enum class DamageKind {
  bit,        ///< one bit is flipped
  bytes,      ///< up to 100 consecutive bytes get other values
  sector,     ///< a sector of 4 KiB is read as zeros, as ones or as random bytes
  truncated,  ///< the end is missing
  older,      ///< the file has the contents that it had earlier
  another_s,  ///< the file comes from another node, or from another store of this node
};
inline constexpr std::size_t damage_kinds = 6;
inline constexpr std::array<const char*, damage_kinds> damage_names{
    "bit", "bytes", "sector", "truncated", "older", "another's"};

/// The result of opening a damaged store.
enum class DamageOutcome {
  refused,           ///< refused with 65, and no byte changed
  exact,             ///< all that was acknowledged is there
  without_the_last,  ///< the last commit is missing, which a power cut could have removed
  restored,  ///< an earlier state is there, since both files are old; only peers can detect this
  wrong,
};
inline constexpr std::size_t damage_outcomes = 5;
inline constexpr std::array<const char*, damage_outcomes> damage_outcome_names{
    "refused", "exact", "without the last", "restored", "wrong"};

/// Damages the files of a store again and again. Each trial begins with the files as they are after
/// two lives. As old contents it uses copies from the beginning of each life and from after each
/// commit.
class DamageTrials {
 public:
  DamageTrials();

  struct Result {
    DamageKind kind{};
    DamageOutcome outcome{};
    std::string what;  ///< the damage and its result, if the result is wrong
  };
  /// Damages the file, the log or both. The seed decides how.
  Result damaged(std::uint64_t seed);
  /// The number of sectors of the log or of the file. For each of these sectors
  /// `with_a_lost_sector` can be called.
  [[nodiscard]] std::size_t sectors(bool of_log) const;
  Result with_a_lost_sector(bool of_log, std::size_t sector, char fill);

 private:
  struct Files {
    std::string file;
    std::string log;
    friend bool operator==(const Files&, const Files&) = default;
  };
  struct Moment {
    Files files;
    Held held;
  };
  std::vector<Moment> live(std::uint32_t node, const std::string& name) const;
  [[nodiscard]] std::string damage(DamageKind kind, bool of_log, Files& files);
  Result opened(DamageKind kind, const Files& damaged, std::string what);

  TemporaryDirectory temporary_{TemporaryDirectory::in_memory()};
  std::filesystem::path directory_ = temporary_.path() / "n3";
  storage::OpenOptions options_;
  std::vector<Moment> own_;
  std::vector<Moment> namesake_s_;
  std::vector<Moment> another_s_;
  std::mt19937_64 random_;
  std::size_t now_ = 0;  ///< the moment that is damaged
};

}  // namespace muster::test
