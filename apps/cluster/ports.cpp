#include "apps/cluster/ports.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <random>
#include <string>

namespace muster::apps {
namespace {

constexpr std::uint32_t lowest_port = 10'000;

/// The first port of the ephemeral range, from which the kernel takes ports of outgoing
/// connections.
std::uint32_t first_ephemeral_port() {
  std::ifstream range("/proc/sys/net/ipv4/ip_local_port_range");
  std::uint32_t first = 0;
  range >> first;
  return first > lowest_port + 1000 ? first : 32'768;
}

bool nobody_listens(std::uint16_t port) {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
         listen(socket.fd(), 1) == 0;
}

/// Locks a port by a name in the abstract socket namespace. One process can hold a name at a time,
/// and the kernel frees it when that process ends.
Descriptor lock_port(std::uint16_t port) {
  Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "muster-port-" + std::to_string(port);
  std::memcpy(address.sun_path + 1, name.data(),
              name.size());  // after a zero byte: a name without a file
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return {};
  return socket;
}

}  // namespace

Expected<ReservedPorts> ReservedPorts::take(std::size_t count) {
  ReservedPorts taken;
  std::random_device device;
  std::uniform_int_distribution<std::uint32_t> any(lowest_port, first_ephemeral_port() - 1);
  for (int attempt = 0; attempt < 10'000 && taken.ports_.size() < count; ++attempt) {
    const auto port = static_cast<std::uint16_t>(any(device));
    Descriptor lock = lock_port(port);
    if (!lock || !nobody_listens(port)) continue;
    taken.ports_.push_back(port);
    taken.locks_.push_back(std::move(lock));
  }
  if (taken.ports_.size() < count) {
    return Failure{
        ExitCode::temporary,
        "no " + std::to_string(count) +
            " free ports on 127.0.0.1 below the ephemeral range; end processes that listen there"};
  }
  return taken;
}

}  // namespace muster::apps
