#include "apps/postgres/server/waits.hpp"

#include <boost/asio/post.hpp>

#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

namespace muster::postgres {

void Pause::wait(Duration time, std::function<void()> then) {
  wanted_ = std::make_shared<bool>();
  timer_.expires_after(time);
  timer_.async_wait([wanted = std::weak_ptr(wanted_), then = std::move(then)](auto error) {
    if (!error && !wanted.expired()) then();
  });
}

void Pause::stop() {
  wanted_.reset();
  timer_.cancel();
}

EndOfProcess::EndOfProcess(const Executor& executor, pid_t pid, std::function<void()> then)
    : pidfd_(executor) {
  auto call = [wanted = std::weak_ptr(wanted_), then = std::move(then)](auto... error) {
    if ((... && !error) && !wanted.expired()) then();
  };
  // The system call is made directly, because glibc 2.36 declares its pidfd_open() without C
  // linkage.
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) {
    boost::asio::post(executor, std::move(call));
    return;
  }
  pidfd_.assign(fd);
  pidfd_.async_wait(boost::asio::posix::stream_descriptor::wait_read, std::move(call));
}

}  // namespace muster::postgres
