#pragma once

#include "storage/power_trial.hpp"
#include "storage/temporary_directory.hpp"

#include <muster/storage/sqlite_storage.hpp>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

/// What disks and people do to the files of a store: is it refused, or is exactly that read which
/// was acknowledged?

namespace muster::test {

enum class DamageKind {
  bit,        ///< one is another
  bytes,      ///< up to 100 in a row are others
  sector,     ///< one of 4 KiB reads as zeros, as ones or as anything
  truncated,  ///< the end is missing
  older,      ///< as it was at an earlier moment
  another_s,  ///< of another node, or of another store of this one
};
inline constexpr std::size_t damage_kinds = 6;
inline constexpr std::array<const char*, damage_kinds> damage_names{
    "bit", "bytes", "sector", "truncated", "older", "another's"};

/// What opening a store made of it.
enum class DamageOutcome {
  refused,           ///< 65, and nothing of it touched
  exact,             ///< all that was acknowledged is there
  without_the_last,  ///< but the last commit, which the power could have cut off
  restored,          ///< as it once was, where both files are old: only peers can know better
  wrong,
};
inline constexpr std::size_t damage_outcomes = 5;
inline constexpr std::array<const char*, damage_outcomes> damage_outcome_names{
    "refused", "exact", "without the last", "restored", "wrong"};

/// The files of a store of two lives as they were when each began and after each commit, to be
/// damaged again and again.
class DamageTrials {
 public:
  DamageTrials();

  struct Result {
    DamageKind kind{};
    DamageOutcome outcome{};
    std::string what;  ///< was done, and came of it, where that is wrong
  };
  /// Damages the file, the log or both, by that seed.
  Result damaged(std::uint64_t seed);
  /// One sector of the log, or of the file, reads as so many of these; for each of the sectors.
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
