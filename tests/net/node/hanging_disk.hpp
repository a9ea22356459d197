#pragma once

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

namespace muster::test {

/// A disk that does not answer who opens that file, until it is told to: a lease on it (fcntl(2)),
/// which the kernel ends after 45 s.
class HangingDisk {
 public:
  explicit HangingDisk(const std::filesystem::path& file)
      : file_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    BOOST_REQUIRE(file_ >= 0);
    // That somebody waits is told by a signal, which by default would end this process.
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
