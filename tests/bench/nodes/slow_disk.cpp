/// A slow or hung disk for one process under `muster-bench fault_tests`: a library that is loaded
/// before libc (LD_PRELOAD). The library affects the files below the directory MUSTER_BENCH_DISK.
/// The file MUSTER_BENCH_DISK_DELAY begins with a number of eight bytes, which may change at any
/// time: the extra delay of each fsync, in ms. Negative: neither fsync nor write returns.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

const volatile std::int64_t* delay_of_file() {
  const char* file = std::getenv("MUSTER_BENCH_DISK_DELAY");
  const int fd = file == nullptr ? -1 : ::open(file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  void* found = ::mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, fd, 0);
  ::close(fd);
  return found == MAP_FAILED ? nullptr : static_cast<const volatile std::int64_t*>(found);
}

std::int64_t delay() {
  static const volatile std::int64_t* const file = delay_of_file();
  return file == nullptr ? 0 : *file;
}

bool is_on_the_disk(int fd) {
  const char* disk = std::getenv("MUSTER_BENCH_DISK");
  if (disk == nullptr) return false;
  char link[] = "/proc/self/fd/0123456789";
  char* digit = link + sizeof "/proc/self/fd/" - 1;
  char digits[12];
  int count = 0;
  for (int rest = fd; rest > 0 || count == 0; rest /= 10) digits[count++] = char('0' + rest % 10);
  while (count > 0) *digit++ = digits[--count];
  *digit = '\0';
  char path[PATH_MAX];
  const ssize_t size = ::readlink(link, path, sizeof path);
  const std::size_t length = std::strlen(disk);
  if (size < 0 || static_cast<std::size_t>(size) < length) return false;
  const bool below = static_cast<std::size_t>(size) == length || path[length] == '/';
  return below && std::memcmp(path, disk, length) == 0;
}

void wait(long milliseconds) {
  timespec left{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  while (::nanosleep(&left, &left) != 0) continue;
}

/// Called before each real sync or write, and delays it.
void before(int fd, bool sync) {
  if (delay() == 0 || (delay() > 0 && !sync) || !is_on_the_disk(fd)) return;
  while (delay() < 0) wait(10);
  if (sync && delay() > 0) wait(delay());
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

#define MUSTER_BEFORE(result, name, sync, parameters, ...)      \
  extern "C" result name parameters {                           \
    static const auto real = next<result(*) parameters>(#name); \
    before(fd, sync);                                           \
    return real(__VA_ARGS__);                                   \
  }

MUSTER_BEFORE(int, fsync, true, (int fd), fd)
MUSTER_BEFORE(int, fdatasync, true, (int fd), fd)
MUSTER_BEFORE(int, ftruncate, false, (int fd, off_t size), fd, size)
MUSTER_BEFORE(int, ftruncate64, false, (int fd, off64_t size), fd, size)
MUSTER_BEFORE(ssize_t, write, false, (int fd, const void* from, size_t size), fd, from, size)
MUSTER_BEFORE(ssize_t, writev, false, (int fd, const iovec* from, int count), fd, from, count)
MUSTER_BEFORE(ssize_t, pwrite, false, (int fd, const void* from, size_t size, off_t at), fd, from,
              size, at)
MUSTER_BEFORE(ssize_t, pwrite64, false, (int fd, const void* from, size_t size, off64_t at), fd,
              from, size, at)
