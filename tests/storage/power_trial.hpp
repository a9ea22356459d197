#pragma once

#include "storage/power_cut_vfs.hpp"
#include "storage/values.hpp"

#include <muster/storage/sqlite_storage.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

/// Lives of a node on a disk whose power is cut and whose I/O fails: is all that was acknowledged
/// there?

namespace muster::test {

/// What a store holds.
struct Held {
  SafeState safe;
  Cells cells;
  friend bool operator==(const Held&, const Held&) = default;
};

/// What content and names meet when the power goes.
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

/// Why a trial has not held: a sentence; empty where it has.
using Verdict = std::string;

/// One disk, one store, many lives.
class Trial {
 public:
  explicit Trial(std::uint64_t seed);
  Trial(const Trial& other);
  Trial& operator=(const Trial&) = delete;

  SimulatedDisk& disk() { return disk_; }
  [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }

  /// One life: opens the store, looks whether what was acknowledged is there, and makes so many
  /// commits. Ends with the first failure, which it tries not to take for an answer: a poisoned
  /// store stays so.
  Verdict live(int commits);

  /// True when the last life failed though the power was on.
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  Verdict look(SafeStorage& store);
  Verdict stop(SafeStorage& store);
  Held next() const;
  Expected<> commit(SafeStorage& store, const Held& wanted) const;

  SimulatedDisk disk_;
  PowerCutVfs vfs_;
  DiskFiles files_;
  Held held_;                      // acknowledged, or seen by a life
  std::optional<Held> attempted_;  // may be there: neither acknowledged nor refused
  std::uint64_t step_ = 0;
  std::uint64_t acknowledged_ = 0;
  bool stopped_ = false;
};

/// What came out of many trials.
struct Tally {
  std::uint64_t cuts = 0;
  std::array<std::uint64_t, std::size(test::cuts)> by_cut{};
  std::uint64_t failures = 0;  ///< I/Os that were made to fail
  std::uint64_t acknowledged = 0;
  std::uint64_t lost = 0;
  std::vector<std::string> losses;  ///< the first few, each a sentence

  void note(const Verdict& verdict, const std::string& where);
  void add(const Tally& other);
};

/// The name of a cut for people: "content torn, names lost".
std::string name_of(const Cut& cut);

/// How many I/Os that change the disk a first life of `commits` commits makes.
std::uint64_t changes_of_a_life(int commits);

/// Makes the disk forgetful: a mutant of the store.
using Mutate = std::function<void(SimulatedDisk&)>;

/// Cuts the power in the I/O `number` of a first life, gives the disk every fate, and for each
/// lives on with `more` further cuts at random.
Tally cut_power_in(std::uint64_t number, int commits, int more, const Mutate& mutate = {});

/// Fails the I/O `number` of a life, among those of the kinds that `failing.which` names; then
/// begins anew, and cuts the power as well. The life is the store's first, or one after another.
/// `reached` is false when there are fewer I/Os.
enum class WhichLife { first, later };
Tally fail_io(const SimulatedDisk::Failing& failing, WhichLife life, int commits, bool& reached);

}  // namespace muster::test
