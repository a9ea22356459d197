#include "fuzz/input.hpp"
#include "storage/src/format.hpp"
#include "storage/temporary_directory.hpp"
#include "storage/values.hpp"
#include "storage/whole_files.hpp"

#include <muster/storage/inspect.hpp>
#include <muster/storage/sqlite_storage.hpp>
#include <muster/values/archive.hpp>

#include <array>

// Property: a store withstands every change to its files, whether a disk makes the change or a
// person with access.

namespace muster::fuzz {
namespace {

using namespace muster::storage;
using test::bytes_of;
using test::put_bytes;

/// `safe.sqlite` and its log, for two nodes of one cluster.
class Stores {
 public:
  using Files = std::array<std::string, 2>;

  Stores() {
    options_.log_pages = 20;
    another_ = made(4);
    own_ = made(3);
  }

  /// Opens the store, or checks it as `muster store verify` does. Either it is refused in one
  /// sentence and no byte changes, or everything saved is there. Only the last commit may be
  /// missing, since a power cut can remove it. If the input wipes all traces of some commits, an
  /// earlier state may come back, but never the state of another node.
  void open(Input& input) {
    const bool only_looks = input.one_in(2);
    std::size_t wiped = 0;
    const Files files = damaged(input, wiped);
    const std::uint64_t least = wiped <= 1 ? lives : 1;
    for (std::size_t i = 0; i < 2; ++i) put_bytes(paths_[i], files[i]);
    if (only_looks) {
      const auto looked = verify(
          directory_, [](std::string_view, const Bytes&) {}, &own, options_);
      if (looked)
        check(looked->safe, least);
      else
        check(looked.error());
      return require(bytes_of(paths_[0]) == files[0] && bytes_of(paths_[1]) == files[1]);
    }
    const auto store = SqliteStorage::open(directory_, own, options_);
    if (store) return check((*store)->load().value(), least);
    check(store.error());
    require(bytes_of(paths_[0]) == files[0] && bytes_of(paths_[1]) == files[1]);
  }

 private:
  static constexpr std::uint64_t lives = 3;
  const Identity own{"demo", NodeId{3}};

  /// Writes the files of that node's store after some lives, and replaces the files that were
  /// there.
  Files made(std::uint32_t node) {
    std::filesystem::remove_all(directory_);
    for (std::uint64_t life = 1; life <= lives; ++life) {
      const auto store =
          SqliteStorage::open(directory_, {own.cluster, NodeId{node}}, options_).value();
      store->save(state(node, life)).value();
      store->write(test::batch_of({{"cell", std::to_string(life)}})).value();
    }
    return {bytes_of(paths_[0]), bytes_of(paths_[1])};
  }

  static SafeState state(std::uint32_t node, std::uint64_t life) {
    return test::safe_state(100 * node + life);
  }

  Files damaged(Input& input, std::size_t& wiped) const {
    Files files = own_;
    while (!input.empty()) {
      const std::uint8_t choice = input.byte();
      std::string& file = files[choice % 2];
      switch (choice / 2 % 8) {
        case 0:
          file = another_[choice % 2];
          continue;
        case 1:
          file = std::string(input.bytes(4096));
          break;
        case 2:
          file.resize(input.number() % (file.size() + 1));
          break;
        case 3:
          fill(file, input.number(), std::string(4096, static_cast<char>(input.byte())));
          break;
        case 4:
          fill(file, 4096 * input.byte() + input.byte(), std::string(input.bytes(8)));
          break;
        case 5:
          std::swap(files[0], files[1]);
          continue;
        default:
          fill(file, input.number(), std::string(input.bytes(1 + input.byte() % 64)));
      }
      ++wiped;
    }
    return files;
  }

  static void fill(std::string& file, std::size_t at, const std::string& bytes) {
    if (file.empty()) return;
    at %= file.size();
    const std::size_t size = std::min(bytes.size(), file.size() - at);
    file.replace(at, size, bytes, 0, size);
  }

  static void check(const Failure& refused) {
    require(refused.code == ExitCode::storage_refused);
    require_presentable(refused.what);
  }
  static void check(const SafeState& safe, std::uint64_t least) {
    const std::uint64_t life = safe.incarnation.value - 100 * 3;
    require(life >= least && life <= lives && safe == state(3, life));
  }

  const test::TemporaryDirectory temporary_{test::TemporaryDirectory::in_memory()};
  const std::filesystem::path directory_ = temporary_.path() / "n3";
  const std::array<std::filesystem::path, 2> paths_{directory_ / "safe.sqlite",
                                                    directory_ / "safe.sqlite-wal"};
  OpenOptions options_;
  Files another_;
  Files own_;
};

/// Reads the record alone, with a correct checksum.
void read_record_alone(std::uint32_t format, std::string_view bytes) {
  static Database database = [] {
    Database made = Database::in_memory().value();
    made.run("CREATE TABLE safe(one INTEGER PRIMARY KEY, record BLOB, checksum INTEGER)").value();
    return made;
  }();
  database.run("DELETE FROM safe").value();
  auto insert = database.prepare("INSERT INTO safe VALUES(1, ?1, ?2)").value();
  require(insert.bind(1, bytes).bind(2, checksum_of(bytes)).step() == SQLITE_DONE);
  auto select = database.prepare(select_record).value();
  const auto record = read_record(database, select, format);
  if (!record) return require_presentable(record.error().what);
  std::string again = encode(*record);
  if (format == 1) again.resize(again.size() - encode(record->instances).size());
  require(again == bytes);
}

}  // namespace
}  // namespace muster::fuzz

/// The first byte selects what is tested: the files, or the record in one of its formats.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static muster::fuzz::Stores stores;
  muster::fuzz::Input input(data, size);
  const std::uint8_t choice = input.byte();
  if (choice % 4 < 2)
    stores.open(input);
  else
    muster::fuzz::read_record_alone(choice % 4 - 1u, input.bytes(size));
  return 0;
}
