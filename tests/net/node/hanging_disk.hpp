#pragma once

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

namespace muster::test {

/// Imitates a disk that hangs: a process that opens that file waits until this object releases it.
/// The object holds a lease on the file (fcntl(2)). The kernel ends that lease after 45 s.
class HangingDisk {
 public:
  explicit HangingDisk(const std::filesystem::path& file)
      : file_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    BOOST_REQUIRE(file_ >= 0);
    // The kernel sends a signal when a process waits. The default signal would end this process, so
    // the lease uses another one.
    BOOST_REQUIRE(::fcntl(file_, F_SETSIG, SIGURG) == 0);
    BOOST_REQUIRE(::fcntl(file_, F_SETLEASE, F_WRLCK) == 0);
  }
  ~HangingDisk() { ::close(file_); }
  HangingDisk(const HangingDisk&) = delete;
  HangingDisk& operator=(const HangingDisk&) = delete;

  void answer() { BOOST_REQUIRE(::fcntl(file_, F_SETLEASE, F_UNLCK) == 0); }

 private:
  int file_ = -1;
};

}  // namespace muster::test
