#include "floods.hpp"

#include "net/src/tls/credentials.hpp"
#include "wire.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <deque>
#include <stdexcept>

namespace muster::test {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

pid_t Endless::begin() {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("cannot fork");
  if (pid == 0 && (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent)) leave();
  return pid;
}

void Endless::leave() {
  ::_exit(1);
}

Endless::~Endless() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

Sent::Sent()
    : count_(static_cast<volatile std::uint64_t*>(::mmap(
          nullptr, sizeof *count_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}

Sent::~Sent() {
  ::munmap(const_cast<std::uint64_t*>(count_), sizeof *count_);
}

namespace {

constexpr std::size_t most_connections = 400;
constexpr Duration dial_bound = 100ms;

std::string client_hello() {
  const std::unique_ptr<SSL_CTX, net::Free<SSL_CTX_free>> context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
  const std::unique_ptr<SSL, net::Free<SSL_free>> tls(SSL_new(context.get()));
  BIO* const out = BIO_new(BIO_s_mem());
  SSL_set_bio(tls.get(), BIO_new(BIO_s_mem()), out);
  SSL_connect(tls.get());
  std::array<char, 4096> bytes;
  return {bytes.data(), static_cast<std::size_t>(BIO_read(out, bytes.data(), bytes.size()))};
}

class Flooding {
 public:
  Flooding(Flood how, const Ports& ports, const std::string& cluster)
      : how_(how), ports_(ports), cluster_(cluster), next_(ports_.begin()) {
    for (std::size_t i = 0; keys_.size() < 65'000; ++i) keys_ += std::to_string(i) + "=\n";
    while (questions_.size() < 250'000) questions_ += net::encode_frame(net::StatusQuestion{});
  }

  void run(volatile std::uint64_t& sent) {
    const double rate = how_ == Flood::tiny_keys_40 ? 40 : how_ == Flood::connections_800 ? 800 : 0;
    const auto begin = Clock::now();
    for (std::uint64_t done = 1;; ++done) {
      step();
      sent = sent + 1;
      const auto due = begin + std::chrono::duration<double>(static_cast<double>(done) / rate);
      // Waits as long as the rate of the flood demands.
      while (rate > 0 && Clock::now() < due) ::poll(nullptr, 0, 1);
    }
  }

 private:
  void step() {
    switch (how_) {
      case Flood::nothing:
        ::pause();
        return;
      case Flood::tiny_keys_40:
      case Flood::tiny_keys:
        return say_hello(net::Role::node, NodeId{9}, keys_);
      case Flood::connections_800:
        return hold(dial());
      case Flood::namesakes:
        return say_hello(net::Role::node, NodeId{}, cluster_);
      case Flood::questions_unread:
        return ask(1, false);
      case Flood::questions_unread_16:
        return ask(16, false);
      case Flood::questions_read_16:
        return ask(16, true);
      case Flood::bytes_64:
        return say_bytes(64);
      case Flood::handshakes:
        return begin_handshake();
    }
  }

  Wire dial() {
    if (++next_ == ports_.end()) next_ = ports_.begin();
    return Wire(next_->second, dial_bound);
  }

  void hold(Wire wire) {
    held_.push_back(std::move(wire));
    if (held_.size() > most_connections) held_.pop_front();
  }

  // If `from` is 0, the Hello names the attacked node itself.
  [[nodiscard]] std::string hello(net::Role role, NodeId from, const std::string& cluster) const {
    net::Hello made;
    made.role = role;
    made.cluster = cluster;
    made.from = role == net::Role::observer ? NodeId{} : from == NodeId{} ? next_->first : from;
    made.to = role == net::Role::observer ? NodeId{} : next_->first;
    made.incarnation = Incarnation{1000};
    made.instance = 4711;
    made.number = made.session = 1;
    return net::encode_frame(made);
  }

  void say_hello(net::Role role, NodeId from, const std::string& cluster) {
    Wire wire = dial();
    wire.say(hello(role, from, cluster));
    hold(std::move(wire));
  }

  // The other side has to compute a signature for each handshake, but this side computes nothing.
  void begin_handshake() {
    Wire wire = dial();
    wire.say(client_hello_);
    hold(std::move(wire));
  }

  // Uses `count` connections in turn, and opens a connection again if it was closed.
  Wire& one_of(std::size_t count) {
    if (turn_ == count) turn_ = 0;
    while (held_.size() < count) held_.emplace_back(apps::Descriptor());
    return held_[turn_++];
  }

  // Discards the received bytes. True when the other side has closed the connection.
  static bool read_to_now(Wire& wire, bool& heard) {
    std::array<char, 1 << 16> bytes;
    for (;;) {
      const ssize_t size = ::recv(wire.fd(), bytes.data(), bytes.size(), 0);
      if (size <= 0) return size == 0 || errno != EAGAIN;
      heard = true;
    }
  }

  void ask(std::size_t count, bool reads) {
    Wire& wire = one_of(count);
    bool heard = false;
    if (!wire.is_open() || (reads && read_to_now(wire, heard))) {
      wire = dial();
      wire.say(hello(net::Role::observer, {}, cluster_));
      heard = true;
    }
    if (reads && !heard && !nothing_comes(wire)) return;
    const bool all = wire.say(reads ? net::encode_frame(net::StatusQuestion{}) : questions_);
    if (!all && !reads && (errno != EAGAIN || !nothing_comes(wire))) wire.reset();
  }

  // Nothing has arrived within 1 ms. The flood does not wait for peers that do not answer or do not
  // read.
  static bool nothing_comes(const Wire& wire) {
    pollfd one{wire.fd(), POLLIN | POLLHUP, 0};
    return ::poll(&one, 1, 1) == 0;
  }

  void say_bytes(std::size_t count) {
    const std::string whole = hello(net::Role::node, NodeId{9}, cluster_);
    Wire& wire = one_of(count);
    std::size_t& at = said_[turn_ - 1];
    if (wire.is_open() && at < whole.size() - 1 && wire.say(whole.substr(at++, 1))) return;
    wire = dial();
    at = 0;
  }

  const Flood how_;
  const Ports& ports_;
  const std::string& cluster_;
  Ports::const_iterator next_;
  std::string keys_, questions_;
  const std::string client_hello_ = client_hello();
  std::deque<Wire> held_;
  std::array<std::size_t, 64> said_{};
  std::size_t turn_ = 0;
};

}  // namespace

void flood(Flood how, const Ports& ports, const std::string& cluster,
           volatile std::uint64_t& sent) {
  Flooding(how, ports, cluster).run(sent);
}

void discard(const Ports& ports) {
  std::deque<Door> doors;
  for (const auto& [node, port] : ports) doors.emplace_back(port);
  std::deque<Wire> wires;
  std::array<char, 1 << 16> bytes;
  std::vector<pollfd> all;
  for (;;) {
    all.clear();
    for (const Door& door : doors) all.push_back({door.fd(), POLLIN, 0});
    for (const Wire& wire : wires) all.push_back({wire.fd(), POLLIN, 0});
    ::poll(all.data(), all.size(), -1);
    for (std::size_t i = doors.size(); i < all.size(); ++i) {
      Wire& wire = wires[i - doors.size()];
      if (all[i].revents != 0 && ::recv(wire.fd(), bytes.data(), bytes.size(), 0) == 0)
        wire.close();
    }
    std::erase_if(wires, [](const Wire& wire) { return !wire.is_open(); });
    for (std::size_t i = 0; i < doors.size(); ++i)
      if (all[i].revents != 0) wires.push_back(doors[i].next(Duration::zero()));
    while (wires.size() > most_connections) wires.pop_front();
  }
}

}  // namespace muster::test
