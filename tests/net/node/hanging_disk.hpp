#pragma once

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace muster::test {

/// A disk that does not answer: a pipe that is full and nobody reads, until somebody does.
class HangingDisk {
 public:
  explicit HangingDisk(const std::filesystem::path& file) {
    BOOST_REQUIRE(::mkfifo(file.c_str(), 0600) == 0);
    pipe_ = ::open(file.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    BOOST_REQUIRE(pipe_ >= 0);
    const std::string much(1 << 16, 'x');
    while (::write(pipe_, much.data(), much.size()) > 0) continue;
  }
  ~HangingDisk() { ::close(pipe_); }
  HangingDisk(const HangingDisk&) = delete;
  HangingDisk& operator=(const HangingDisk&) = delete;

  void read_all() {
    char some[4096];
    while (::read(pipe_, some, sizeof some) > 0) continue;
  }

 private:
  int pipe_ = -1;
};

}  // namespace muster::test
