#pragma once

#include <muster/values/describe.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace muster::test {

/// What may be done to a disk, one I/O each.
enum class Io { open, read, write, truncate, sync, create, remove, rename, sync_directory };
inline constexpr std::size_t io_kinds = 9;

/// What becomes of what was not synced when the power goes.
enum class Fate {
  kept,
  lost,
  torn,       ///< in order up to some point, of which a part
  reordered,  ///< each change on its own kept, lost, or of a write some sectors kept
};
MUSTER_DESCRIBE_ENUM(Fate, kept, lost, torn, reordered)

/// A disk with a cache, on which the power can be cut and any I/O can fail. A program sees the
/// cache; what was synced is what a power cut leaves, and of the rest what a Fate says. Names are
/// full paths; a file's name and its content are made durable separately, as POSIX has it.
class SimulatedDisk {
 public:
  struct Change {
    std::uint64_t offset{};
    std::string bytes;                  ///< what was written there
    std::optional<std::uint64_t> size;  ///< or: the file got this size
  };
  struct File {
    std::uint64_t inode{};
    bool directory = false;
    std::string cached;
    std::string durable;
    std::vector<Change> unsynced;
  };
  using FilePtr = std::shared_ptr<File>;
  enum class Error { none, io, full, off };

  explicit SimulatedDisk(std::uint64_t seed);
  SimulatedDisk(const SimulatedDisk& other);
  SimulatedDisk& operator=(const SimulatedDisk&) = delete;

  /// Other fates from here on.
  void reseed(std::uint64_t seed) { random_.seed(seed); }

  // --- What programs do

  [[nodiscard]] FilePtr find(const std::string& path) const;
  Error note_open();
  Error read(const File& file, std::uint64_t offset, std::size_t size, std::string& bytes);
  Error write(File& file, std::uint64_t offset, std::string_view bytes);
  Error truncate(File& file, std::uint64_t size);
  Error sync(File& file);
  Error create(const std::string& path, bool directory, FilePtr& created);
  Error remove(const std::string& path);
  Error rename(const std::string& from, const std::string& to);
  Error sync_directory(const std::string& path);
  /// Makes the name of a file durable, and no other in its directory.
  Error sync_name(const std::string& path);
  /// True when nobody else had it; ends with the process.
  bool lock(const std::string& path);
  void unlock(const std::string& path);

  // --- What befalls it

  /// The power goes in the I/O of this number, counted from 1 over those that change something.
  /// That one is begun: it may be kept, lost or torn, a sync has no effect. All that follow fail.
  void cut_power_in(std::uint64_t number) { cut_in_ = number; }
  [[nodiscard]] bool off() const { return off_; }
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  /// The power comes back: the cache is empty, and content and names met their fates.
  void power_on(Fate content, Fate names);

  /// The I/O of this number fails, counted from 1 over those of these kinds; `forever`: and all
  /// after it.
  struct Failing {
    std::uint64_t number{};
    std::function<bool(Io)> which;
    Error error = Error::io;
    bool forever = false;
    bool half = false;        ///< a write is done up to its middle
    bool drops_cache = true;  ///< what a failed sync was to write counts as written from then on
  };
  void fail(Failing failing) { failing_ = std::move(failing), matching_ = 0; }
  void heal() { failing_.reset(); }
  /// True once the I/O that was to fail has failed.
  [[nodiscard]] bool failed() const { return failed_; }

  /// The process ends and another begins: the cache stays. I/O is counted anew.
  void restart_process();
  /// Everything in the cache becomes durable.
  void settle();

  // For mutants: what these forget nobody else does.
  bool forgets_sync_directory = false;
  bool forgets_sync_file = false;  ///< by Files, not by SQLite

  /// Syncing a new file makes its own name durable, but not that another in its directory is gone.
  bool syncs_only_own_name = false;

  std::uint64_t free_bytes = std::uint64_t{1} << 30;
  [[nodiscard]] std::array<std::uint64_t, io_kinds> counts() const { return counts_; }

 private:
  // Names that change together: a rename is one.
  using NameChange = std::vector<std::pair<std::string, FilePtr>>;

  Error begin(Io kind);
  Error begin_change(Io kind);
  void apply_torn(File& file, const Change& change, std::size_t bytes);
  void apply_sectors(File& file, const Change& change);
  void meet_fate(File& file, Fate fate);
  void meet_fate_of_names(Fate fate);
  void make_durable(const NameChange& change);
  bool chance(double probability);
  std::size_t up_to(std::size_t most);

  std::mt19937_64 random_;
  std::uint64_t next_inode_ = 1;
  std::map<std::string, FilePtr> names_;
  std::map<std::string, FilePtr> durable_names_;
  std::vector<NameChange> unsynced_names_;
  std::map<std::string, bool> locked_;
  std::uint64_t changes_ = 0;
  std::uint64_t cut_in_ = 0;
  bool off_ = false;
  std::optional<Failing> failing_;
  std::uint64_t matching_ = 0;
  bool failed_ = false;
  std::array<std::uint64_t, io_kinds> counts_{};
};

}  // namespace muster::test
