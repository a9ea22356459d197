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

/// The operations of a disk, one I/O each.
enum class Io { open, read, write, truncate, sync, create, remove, rename, sync_directory };
inline constexpr std::size_t io_kinds = 9;

/// The fate of unsynced data in a power cut.
enum class Fate {
  kept,
  lost,
  torn,  ///< the first changes are kept; of the next one only a part is kept, and the rest is lost
  reordered,  ///< each change is kept or lost by itself; of a write only some sectors may be kept
};
MUSTER_DESCRIBE_ENUM(Fate, kept, lost, torn, reordered)

/// A disk with a cache, on which the power can be cut and any I/O can fail. A program sees the
/// cache. Synced data survives a power cut. A Fate decides which other data survives. Names are
/// full paths. As in POSIX, a file's name and its content are made durable separately.
class SimulatedDisk {
 public:
  struct Change {
    std::uint64_t offset{};
    std::string bytes;                  ///< the bytes written there
    std::optional<std::uint64_t> size;  ///< if set, the new size of the file
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

  /// Seeds the random choices of the fates from here on.
  void reseed(std::uint64_t seed) { random_.seed(seed); }

  // --- Operations of programs

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
  /// Makes the name of a file durable, and no other name in its directory.
  Error sync_name(const std::string& path);
  /// Takes the lock; false if another process has it. A process that ends releases its locks.
  bool lock(const std::string& path);
  void unlock(const std::string& path);

  // --- Faults

  /// Cuts the power in the I/O of this number, counted from 1 over the I/Os that change something.
  /// The power fails after the I/O has begun. So a change can be kept, lost or torn, and a sync has
  /// no effect. All later I/Os fail.
  void cut_power_in(std::uint64_t number) { cut_in_ = number; }
  [[nodiscard]] bool off() const { return off_; }
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  /// The power comes back. The cache is then empty, and `content` and `names` have decided which
  /// unsynced contents and names survive.
  void power_on(Fate content, Fate names);

  /// Fails the I/O of this number, counted from 1 over these kinds. If `forever`, all later ones
  /// fail too.
  struct Failing {
    std::uint64_t number{};
    std::function<bool(Io)> which;
    Error error = Error::io;
    bool forever = false;
    bool half = false;        ///< a failing write still writes the first half of its bytes
    bool drops_cache = true;  ///< after a failed sync, a later sync does not write that data again,
                              ///< as if it were written
  };
  void fail(Failing failing) { failing_ = std::move(failing), matching_ = 0; }
  void heal() { failing_.reset(); }
  /// True once the I/O that `fail` names has failed.
  [[nodiscard]] bool failed() const { return failed_; }

  /// The process ends and another one begins. The cache keeps its contents, and the numbers of I/Os
  /// start from 1 again.
  void restart_process();
  /// Everything in the cache becomes durable.
  void settle();

  // Mutants of the store: if set, these steps have no effect.
  bool forgets_sync_directory = false;
  bool forgets_sync_file = false;  ///< only syncs by Files, not those by SQLite

  /// Syncing a new file makes its own name durable, but not the removal of another name in its
  /// directory.
  bool syncs_only_own_name = false;

  std::uint64_t free_bytes = std::uint64_t{1} << 30;
  [[nodiscard]] std::array<std::uint64_t, io_kinds> counts() const { return counts_; }

 private:
  // Names that change together, as in a rename.
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
