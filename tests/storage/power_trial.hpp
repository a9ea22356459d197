#pragma once

#include "storage/power_cut_vfs.hpp"
#include "storage/values.hpp"

#include <muster/storage/sqlite_storage.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

/// Lives of a node on a disk whose power is cut and whose I/O fails. After each, all acknowledged
/// data must be there.

namespace muster::test {

/// The contents of a store.
struct Held {
  SafeState safe;
  Cells cells;
  friend bool operator==(const Held&, const Held&) = default;
};

/// A kind of power cut: the fate of unsynced contents, and the fate of unsynced names.
struct Cut {
  Fate content{};
  Fate names{};
};
inline constexpr Cut cuts[] = {
    {Fate::kept, Fate::kept},      {Fate::lost, Fate::lost},
    {Fate::kept, Fate::lost},      {Fate::lost, Fate::kept},
    {Fate::torn, Fate::kept},      {Fate::torn, Fate::lost},
    {Fate::torn, Fate::torn},      {Fate::reordered, Fate::kept},
    {Fate::reordered, Fate::lost}, {Fate::reordered, Fate::reordered},
};

/// The reason for which a trial has failed; empty if it has not.
using Verdict = std::string;

/// A trial of one store on one disk, in many lives.
class Trial {
 public:
  explicit Trial(std::uint64_t seed);
  Trial(const Trial& other);
  Trial& operator=(const Trial&) = delete;

  SimulatedDisk& disk() { return disk_; }
  [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }

  /// Runs one life: it opens the store, checks that all acknowledged data is there, and makes that
  /// many commits. The life ends at the first failure. Then `live` checks that a store which has
  /// failed once refuses all further operations.
  Verdict live(int commits);

  /// True when the last life failed although the power was on.
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  Verdict look(SafeStorage& store);
  Verdict stop(SafeStorage& store);
  Held next() const;
  Expected<> commit(SafeStorage& store, const Held& wanted) const;

  SimulatedDisk disk_;
  PowerCutVfs vfs_;
  DiskFiles files_;
  Held held_;  // the acknowledged contents, including those that a life has read
  std::optional<Held> attempted_;  // contents that may be in the store: their commit was neither
                                   // acknowledged nor refused
  std::uint64_t step_ = 0;
  std::uint64_t acknowledged_ = 0;
  bool stopped_ = false;
};

/// The results of many trials.
struct Tally {
  std::uint64_t cuts = 0;
  std::array<std::uint64_t, std::size(test::cuts)> by_cut{};
  std::uint64_t failures = 0;  ///< number of I/Os that a trial made to fail
  std::uint64_t acknowledged = 0;
  std::uint64_t lost = 0;
  std::vector<std::string> losses;  ///< the first few, a sentence each

  void note(const Verdict& verdict, const std::string& where);
  void add(const Tally& other);
};

/// The name of a cut for people: "content torn, names lost".
std::string name_of(const Cut& cut);

/// The number of I/Os that change the disk in a first life of `commits` commits.
std::uint64_t changes_of_a_life(int commits);

/// Makes the disk ignore some steps, which imitates a store that forgets them.
using Mutate = std::function<void(SimulatedDisk&)>;

/// Cuts the power in I/O number `number` of a first life, and repeats this with every kind of cut.
/// After each it makes `more` further cuts at random moments.
Tally cut_power_in(std::uint64_t number, int commits, int more, const Mutate& mutate = {});

/// Fails one I/O in the store's first life or in a later one: I/O number `failing.number`, counted
/// over the kinds that `failing.which` names. Then the next life starts. The trial runs twice: with
/// a power cut before that life, and without. Sets `reached` to false if the life has fewer I/Os.
enum class WhichLife { first, later };
Tally fail_io(const SimulatedDisk::Failing& failing, WhichLife life, int commits, bool& reached);

}  // namespace muster::test
