#pragma once

#include "frames.hpp"
#include "words.hpp"

#include <muster/net/frame.hpp>
#include <muster/net/sessions.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Nodes with sessions over real loopback sockets, all on one thread, and the faults that tests
/// make.

namespace sessions_test {

using namespace std::chrono_literals;
using namespace muster;
using muster::net::SessionLimits;
using muster::net::Sessions;
using Tcp = boost::asio::ip::tcp;

/// A port of loopback. The port refuses connections while no node listens at it, and no other
/// process can get it.
class Port {
 public:
  Port() {
    socket_.open(Tcp::v4());
    socket_.set_option(Tcp::socket::reuse_address(true));
    socket_.bind({boost::asio::ip::address_v4::loopback(), 0});
  }
  [[nodiscard]] Tcp::endpoint endpoint() const { return socket_.local_endpoint(); }
  [[nodiscard]] std::string address() const {
    return "127.0.0.1:" + std::to_string(endpoint().port());
  }

 private:
  static inline boost::asio::io_context context_;
  Tcp::socket socket_{context_};
};

/// The thread that all nodes of a test share.
class SocketWorld {
 public:
  boost::asio::io_context context{1};

  /// Runs until the condition is true. Fails the test if it is still false after 60 s.
  template <class Condition>
  void until(const Condition& condition, const char* what) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end)
        throw std::runtime_error(std::string("did not come to hold: ") + what);
      context.restart();
      context.run_one_for(5ms);  // some conditions depend on sockets that no handler watches
    }
  }
  /// Runs all handlers that are ready now.
  void settle() {
    context.restart();
    context.poll();
  }
};

#define UNTIL(world, condition) (world).until([&] { return (condition); }, #condition)

/// The settings that may differ between the nodes of a test.
struct Setting {
  std::string cluster = "T=2s\nname=test\n";
  Duration T = 2s;
  SessionLimits limits{};
  net::WireVersions wire{};
};

/// The first life of a node. The node answers AreYouThere and records all its events.
class TestNode {
 public:
  TestNode(SocketWorld& world, std::uint32_t id, std::map<NodeId, std::string> addresses,
           Setting setting = {})
      : id_{id},
        setting_(std::move(setting)),
        sessions(world.context.get_executor(),
                 net::Self{id_, Incarnation{1}, ++instances_, setting_.cluster, setting_.wire},
                 std::move(addresses), setting_.T, setting_.limits, SafeState{}, handlers()) {}

  /// For each event: its kind, the node, and the number of the call or of the life.
  std::vector<std::string> log;
  std::vector<std::string> warnings;
  std::function<void(const Letter&)> on_call;

  [[nodiscard]] Letter letter(std::uint32_t to, CallNumber call, Message message) const {
    return {id_, Incarnation{1}, NodeId{to}, call, std::move(message)};
  }
  /// Asks AreYouThere: a call to the node.
  std::uint64_t ask(std::uint32_t to, std::optional<Duration> bound = 60s) {
    return call(to, AreYouThere{}, bound);
  }
  /// Makes a call to one life.
  std::uint64_t announce(std::uint32_t to, std::uint64_t life,
                         std::optional<Duration> bound = 60s) {
    return call(to, NewCoordinator{{id_, Incarnation{1}, 1}, Incarnation{life}, {1, id_}}, bound);
  }
  std::uint64_t call(std::uint32_t to, Message message, std::optional<Duration> bound = 60s) {
    const CallNumber number{++last_call_};
    sessions.send(letter(to, number, std::move(message)), bound);
    return number.value;
  }
  void answer(const Letter& call, Result result = Here{}) {
    sessions.send(letter(call.from.value, call.call, Answer{std::move(result)}), std::nullopt);
  }

  [[nodiscard]] bool has(const std::string& entry) const {
    return std::find(log.begin(), log.end(), entry) != log.end();
  }
  /// The entries of the log that start with `begin`, in order.
  [[nodiscard]] std::vector<std::string> entries(const std::string& begin) const {
    std::vector<std::string> found;
    for (const auto& entry : log)
      if (entry.starts_with(begin)) found.push_back(entry);
    return found;
  }

  static std::string answered(std::uint32_t by, std::uint64_t call) {
    return "answer " + std::to_string(by) + " " + std::to_string(call);
  }
  static std::string unanswered(std::uint32_t by, std::uint64_t call) {
    return "unanswered " + std::to_string(by) + " " + std::to_string(call);
  }
  static std::string failed(std::uint32_t node, std::uint64_t life) {
    return "failed " + std::to_string(node) + " " + std::to_string(life);
  }
  static std::string called(std::uint32_t by, std::uint64_t call) {
    return "call " + std::to_string(by) + " " + std::to_string(call);
  }

 private:
  Sessions::Handlers handlers() {
    Sessions::Handlers made;
    made.event = [this](Event event) { waiting_.push_back(std::move(event)); };
    made.turn = [this] {
      for (; !waiting_.empty(); waiting_.pop_front()) on_event(waiting_.front());
    };
    made.outlived = [this](const net::LifeClaims&) { log.push_back("outlived"); };
    made.status = [this] { return "{\"node\":" + std::to_string(id_.value) + "}"; };
    made.warn = [this](std::string text) { warnings.push_back(std::move(text)); };
    return made;
  }
  void on_event(const Event& event) {
    if (const auto* came = std::get_if<Received>(&event)) received(came->letter);
    if (const auto* call = std::get_if<Unanswered>(&event))
      log.push_back(unanswered(call->by.value, call->call.value));
    if (const auto* life = std::get_if<Failed>(&event))
      log.push_back(failed(life->node.value, life->life.value));
    if (std::holds_alternative<Differing>(event)) log.push_back("differing");
  }
  void received(const Letter& letter) {
    if (is_answer(letter)) {
      log.push_back(answered(letter.from.value, letter.call.value));
      return;
    }
    log.push_back(called(letter.from.value, letter.call.value));
    if (on_call)
      on_call(letter);
    else
      answer(letter);
  }

  static inline std::uint64_t instances_ = 0;
  NodeId id_;
  Setting setting_;
  std::uint64_t last_call_ = 0;
  std::deque<Event> waiting_;

 public:
  Sessions sessions;
};

/// A node that listens.
struct Listening : TestNode {
  Listening(SocketWorld& world, std::uint32_t id, std::map<NodeId, std::string> addresses,
            Setting setting = {})
      : TestNode(world, id, std::move(addresses), std::move(setting)) {
    BOOST_REQUIRE(sessions.listen().has_value());
  }
};

/// The addresses of nodes 1, 2, ... at these ports.
inline std::map<NodeId, std::string> addresses(std::initializer_list<const Port*> ports) {
  std::map<NodeId, std::string> made;
  std::uint32_t id = 0;
  for (const Port* port : ports) made.emplace(NodeId{++id}, port->address());
  return made;
}

struct TwoNodes {
  SocketWorld world;
  Port first, second;
  Listening one{world, 1, addresses({&first, &second})};
  Listening two{world, 2, addresses({&first, &second})};
};

/// A connection of a peer that may break the rules.
class Outsider {
 public:
  explicit Outsider(SocketWorld& world) : socket_(world.context), world_(&world) {}
  Outsider(SocketWorld& world, const Port& port) : Outsider(world) { dial(port); }
  Outsider(SocketWorld& world, Tcp::socket accepted)
      : socket_(std::move(accepted)), world_(&world) {
    prepare();
  }
  void dial(const Port& port) {
    socket_.connect(port.endpoint());
    prepare();
  }
  void say(const std::string& bytes) {
    boost::system::error_code ignored;
    socket_.write_some(boost::asio::buffer(bytes), ignored);
  }
  void say(const net::Frame& frame, std::uint8_t version = net::wire_newest) {
    say(net::encode_frame(frame, version));
  }

  /// The next frame of the other side. No value if the other side closes the connection instead.
  std::optional<net::Frame> hear() {
    std::optional<net::Frame> frame;
    world_->until([&] { return take(frame) || closed_; }, "a frame, or the end");
    return frame;
  }
  /// Waits until the other side has closed the connection. True when nothing is left to read.
  bool closed() {
    std::optional<net::Frame> ignored;
    while (take(ignored)) {
    }
    return closed_;
  }
  void reset() {
    boost::system::error_code ignored;
    socket_.set_option(Tcp::socket::linger(true, 0), ignored);
    socket_.close(ignored);
  }

 private:
  bool take(std::optional<net::Frame>& frame) {
    for (;;) {
      auto next = reader_.next();
      BOOST_REQUIRE(next.has_value());
      if (*next) {
        frame = **std::move(next);
        return true;
      }
      const auto room = reader_.room();
      boost::system::error_code error;
      const auto size = socket_.read_some(boost::asio::buffer(room.data(), room.size()), error);
      if (error == boost::asio::error::would_block) return false;
      if (error) {
        closed_ = true;
        return false;
      }
      reader_.filled(size);
    }
  }
  void prepare() {
    socket_.non_blocking(true);
    socket_.set_option(Tcp::no_delay(true));  // sends bytes at once, also before a reset
  }
  Tcp::socket socket_;
  SocketWorld* world_;
  net::FrameReader reader_;
  bool closed_ = false;
};

/// A Hello of a node that is not running, as in tests/frames.hpp, but with the text of the test's
/// cluster.
inline net::Hello hello_of(const muster::test::HelloFields& fields) {
  net::Hello hello = muster::test::hello_of(fields);
  hello.cluster = Setting{}.cluster;
  return hello;
}
using muster::test::carried;

inline bool taken(Outsider& outsider) {
  const auto frame = outsider.hear();
  return frame && std::holds_alternative<net::Hello>(*frame);
}

/// Accepts the next connection to a port.
class Door {
 public:
  Door(SocketWorld& world, const Port& port)
      : world_(world), acceptor_(world.context, port.endpoint()) {
    acceptor_.non_blocking(true);
  }
  Outsider next() {
    Tcp::socket socket(world_.context);
    boost::system::error_code error = boost::asio::error::would_block;
    world_.until(
        [&] {
          acceptor_.accept(socket, error);
          return !error;
        },
        "somebody dials");
    return Outsider(world_, std::move(socket));
  }

 private:
  SocketWorld& world_;
  Tcp::acceptor acceptor_;
};

}  // namespace sessions_test
