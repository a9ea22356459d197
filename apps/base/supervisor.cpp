#include "supervisor.hpp"

#include "process.hpp"
#include "text.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace muster::apps {
namespace {

/// Returns the value and removes the variable from the environment.
std::string taken(const char* variable) {
  const char* const value = std::getenv(variable);
  const std::string text = value == nullptr ? "" : value;
  ::unsetenv(variable);
  return text;
}

}  // namespace

Supervisor Supervisor::from_environment() {
  Supervisor supervisor;
  supervisor.socket_ = taken("NOTIFY_SOCKET");
  const auto patience = parse_duration(taken("WATCHDOG_USEC") + "us");
  const std::string whose = taken("WATCHDOG_PID");
  if (patience && *patience > Duration::zero() &&
      (whose.empty() || whose == std::to_string(::getpid())))
    supervisor.patience_ = patience;
  return supervisor;
}

void Supervisor::tell(const std::string& lines) const {
  sockaddr_un address{};
  if (socket_.empty() || socket_.size() >= sizeof(address.sun_path)) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_.front() == '@') address.sun_path[0] = '\0';
  const Descriptor datagrams(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!datagrams) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  ::sendto(datagrams.fd(), lines.data(), lines.size(), MSG_NOSIGNAL,
           reinterpret_cast<const sockaddr*>(&address), size);
}

}  // namespace muster::apps
