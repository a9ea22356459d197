#include "ports.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <stdexcept>
#include <string>

namespace muster::test {

namespace {

// These ports are below the range from which the system takes ports for outgoing connections.
constexpr std::uint16_t lowest = 10'000;
constexpr std::uint16_t highest = 30'000;

bool can_be_bound(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound =
      ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(socket);
  return bound;
}

// Binds a name that only one process of the system can have at a time. The process releases it when
// it ends.
int lock_name(std::uint16_t port) {
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "muster-port-" + std::to_string(port);
  // The first byte of the path stays zero, so the name is abstract and needs no file.
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), size) == 0) return socket;
  ::close(socket);
  return -1;
}

}  // namespace

Ports::Ports(std::size_t count) {
  std::random_device source;
  std::uniform_int_distribution<int> any(lowest, highest);
  for (int tries = 0; ports_.size() < count; ++tries) {
    if (tries > 10'000) throw std::runtime_error("no free ports");
    const auto port = static_cast<std::uint16_t>(any(source));
    const int lock = lock_name(port);
    if (lock < 0) continue;
    locks_.push_back(lock);
    if (can_be_bound(port)) ports_.push_back(port);
  }
}

Ports::~Ports() {
  for (int lock : locks_) ::close(lock);
}

}  // namespace muster::test
