#include "storage/temporary_directory.hpp"
#include "storage/values.hpp"

#include <muster/storage/sqlite_storage.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>

// The cost of a commit to safe storage: `store_commit [COMMITS [DIRECTORY]]`. The bench also
// measures a lower bound for this disk: the time to overwrite and sync one page. DIRECTORY should
// be on the disk that the nodes use.

namespace muster::test {
namespace {

using Clock = std::chrono::steady_clock;

void report(const char* what, int times, const std::function<void(int)>& once) {
  std::vector<double> microseconds;
  for (int i = 0; i < times; ++i) {
    const auto begin = Clock::now();
    once(i);
    microseconds.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  std::sort(microseconds.begin(), microseconds.end());
  const auto part = [&](std::size_t percent) {
    return static_cast<long>(microseconds[(microseconds.size() - 1) * percent / 100]);
  };
  std::cout << what << ": median " << part(50) << " us, p95 " << part(95) << ", p99 " << part(99)
            << ", most " << part(100) << '\n';
}

void floor_of_disk(const std::filesystem::path& directory, int times) {
  const auto file = directory / "floor";
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const std::string page(4096, 'p');
  report("floor (one page over, fdatasync)", times, [&](int i) {
    const auto at = static_cast<off_t>(i % 1000) * 4096;
    if (::pwrite(descriptor, page.data(), page.size(), at) < 0 || ::fdatasync(descriptor) != 0)
      std::abort();
  });
  ::close(descriptor);
  std::filesystem::remove(file);
}

int run(int times, const std::filesystem::path& directory) {
  floor_of_disk(directory, 1000);  // a first round that makes the file; its result is not used
  floor_of_disk(directory, times);
  const auto begin = Clock::now();
  const auto place = directory / "n1";
  auto made = storage::SqliteStorage::open(place, {"bench", NodeId{1}}).value();
  const auto opened = Clock::now();
  std::cout << "making a store: "
            << std::chrono::duration_cast<std::chrono::microseconds>(opened - begin).count()
            << " us\n";
  report("save of a small state", times,
         [&](int i) { made->save(safe_state(static_cast<std::uint64_t>(i))).value(); });
  report("save with a definition of 32 KiB", times / 4,
         [&](int i) { made->save(safe_state(static_cast<std::uint64_t>(i), 32768)).value(); });
  report("a record of 100 bytes appended", times, [&](int i) {
    const std::string number = std::to_string(1000000 + i);
    made->write(batch_of({{"shard/7/" + number, std::string(100, 'r')}})).value();
  });
  report("opening again", 20, [&](int) {
    made.reset();
    made = storage::SqliteStorage::open(place, {"bench", NodeId{1}}).value();
  });
  report("opening again and raising the incarnation", 20, [&](int i) {
    made.reset();
    made = storage::SqliteStorage::open(place, {"bench", NodeId{1}}).value();
    made->save(safe_state(static_cast<std::uint64_t>(i))).value();
  });
  made.reset();
  std::filesystem::remove_all(place);
  return 0;
}

}  // namespace
}  // namespace muster::test

int main(int count, char** arguments) {
  const int times = count > 1 ? std::atoi(arguments[1]) : 4000;
  const muster::test::TemporaryDirectory directory;
  return muster::test::run(times,
                           count > 2 ? std::filesystem::path(arguments[2]) : directory.path());
}
