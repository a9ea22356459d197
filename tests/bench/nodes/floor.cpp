#include "bench/nodes/floor.hpp"

#include "apps/base/process.hpp"
#include "apps/cluster/cluster.hpp"

#include <muster/storage/sqlite_storage.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <vector>

namespace muster::apps {
namespace {

using Clock = std::chrono::steady_clock;

Duration median(std::vector<Duration> times) {
  if (times.empty()) return Duration{};
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

Failure no_floor(const std::string& what) {
  return {ExitCode::io_error, "the least possible fail-over of this machine cannot be measured: " +
                                  what + ": " + std::strerror(errno)};
}

/// A socket that listens on a free port of 127.0.0.1.
struct Listening {
  Descriptor socket;
  sockaddr_in address{};
};

Expected<Listening> listen_somewhere() {
  Listening listening;
  listening.socket = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  listening.address.sin_family = AF_INET;
  listening.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof listening.address;
  auto* const address = reinterpret_cast<sockaddr*>(&listening.address);
  const int fd = listening.socket.fd();
  if (fd < 0 || ::bind(fd, address, size) != 0 || ::listen(fd, 4) != 0 ||
      ::getsockname(fd, address, &size) != 0)
    return no_floor("listen");
  return listening;
}

Descriptor connect_to(const sockaddr_in& address) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return {};
  return socket;
}

/// A child process that sends each 64 bytes back until it is killed.
pid_t fork_echo(const Listening& listening) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  const int peer = ::accept(listening.socket.fd(), nullptr, nullptr);
  const int on = 1;
  ::setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  std::array<char, 64> bytes{};
  while (::read(peer, bytes.data(), bytes.size()) > 0)
    if (::write(peer, bytes.data(), bytes.size()) < 0) break;
  ::_exit(0);
}

bool echo(const Descriptor& socket) {
  std::array<char, 64> bytes{};
  return ::write(socket.fd(), bytes.data(), bytes.size()) == 64 &&
         ::recv(socket.fd(), bytes.data(), bytes.size(), MSG_WAITALL) == 64;
}

Expected<sockaddr_in> address_of(const Cluster& cluster) {
  const Address& address = cluster.options().cluster.nodes.begin()->second;
  sockaddr_in bare{};
  bare.sin_family = AF_INET;
  bare.sin_port = htons(address.port);
  if (::inet_pton(AF_INET, address.host.c_str(), &bare.sin_addr) != 1)
    return no_floor("an address");
  return bare;
}

/// Kills a process with the memory and the threads of a node. Measures when a peer sees the end of
/// the connection, and when the port refuses connections.
Expected<> measure_death(Floor& floor, Cluster& cluster) {
  using namespace std::chrono_literals;
  const NodeId node = *cluster.nodes().begin();
  const Expected<sockaddr_in> address = address_of(cluster);
  if (!address) return address.error();
  std::vector<Duration> ends;
  std::vector<Duration> refusals;
  for (int i = 0; i < 40; ++i) {
    if (const Expected<> started = cluster.start(node); !started) return started.error();
    if (!cluster.until([&] { return cluster.normal(); }, 20s)) return no_floor("a node");
    const Descriptor socket = connect_to(*address);
    if (!socket) return no_floor("a connection to a node");
    cluster.run(20ms);  // the node has accepted the connection, and waits for a Hello
    const auto killed = Clock::now();
    ::kill(cluster.pid(node), SIGKILL);
    char byte = 0;
    while (::read(socket.fd(), &byte, 1) > 0) continue;
    ends.push_back(Clock::now() - killed);
    cluster.kill(node);
    const auto dialled = Clock::now();
    if (connect_to(*address)) return no_floor("a port that should refuse");
    refusals.push_back(Clock::now() - dialled);
  }
  floor.end_of_file = median(std::move(ends));
  floor.refused = median(std::move(refusals));
  return {};
}

Expected<> measure_round_trip(Floor& floor) {
  Expected<Listening> listening = listen_somewhere();
  if (!listening) return listening.error();
  const pid_t child = fork_echo(*listening);
  const Descriptor socket = connect_to(listening->address);
  std::vector<Duration> times;
  for (int i = 0; i < 2000 && socket; ++i) {
    const auto sent = Clock::now();
    if (!echo(socket)) break;
    times.push_back(Clock::now() - sent);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  if (times.empty()) return no_floor("a round trip over loopback");
  floor.round_trip = median(std::move(times));
  return {};
}

/// Measures commits to the store that nodes use, with a record of the usual size.
Expected<> measure_commit(Floor& floor, const std::filesystem::path& directory) {
  const std::filesystem::path place = directory / "floor";
  {
    auto store = storage::SqliteStorage::open(place, {"floor", NodeId{1}});
    if (!store) return store.error();
    std::vector<Duration> times;
    SafeState safe;
    safe.assigned = Assigned{Definition{std::string(100, 'x')}, {}};
    for (int i = 0; i < 300; ++i) {
      ++safe.counter_limit;
      const auto asked = Clock::now();
      if (const Expected<> saved = (*store)->save(safe); !saved) return saved.error();
      times.push_back(Clock::now() - asked);
    }
    floor.commit = median(std::move(times));
  }
  std::error_code ignored;
  std::filesystem::remove_all(place, ignored);
  return {};
}

}  // namespace

Duration Floor::failover(std::size_t survivors) const {
  const auto others = static_cast<Duration::rep>(survivors > 0 ? survivors - 1 : 0);
  return end_of_file + refused + round_trip * (others + 2) + commit * 2;
}

Expected<Floor> measure_floor(Cluster& alone) {
  Floor floor;
  for (const Expected<>& part : {measure_death(floor, alone), measure_round_trip(floor),
                                 measure_commit(floor, alone.options().directory)})
    if (!part) return part.error();
  return floor;
}

}  // namespace muster::apps
