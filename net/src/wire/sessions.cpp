#include <muster/net/sessions.hpp>
#include <muster/values/address.hpp>
#include <muster/values/archive.hpp>

#include "base/clock.hpp"
#include "tls/tls.hpp"
#include "wire/connection.hpp"
#include "wire/dial.hpp"
#include "wire/listener.hpp"
#include "wire/traffic.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <set>
#include <utility>
#include <vector>

namespace muster::net {

// Turns events of the kernel into inputs of host::Sessions, and performs its outputs in order. It
// contains no rule of its own.
class Sessions::Impl final : public ConnectionOwner, public std::enable_shared_from_this<Impl> {
 public:
  Impl(boost::asio::any_io_executor executor, host::SessionConfig config, std::string own_address,
       const SafeState& safe, Handlers handlers, std::shared_ptr<const Tls> tls)
      : executor_(std::move(executor)),
        config_(std::move(config)),
        own_address_(std::move(own_address)),
        handlers_(std::move(handlers)),
        tls_(std::move(tls)),
        sessions_(host::Sessions::begin(config_, safe)),
        timer_(executor_) {}

  void begin() {
    const auto weak = weak_from_this();
    Listener::Handlers handlers;
    handlers.accepted = [weak](Tcp::socket socket) {
      if (const auto impl = weak.lock()) impl->accepted(std::move(socket));
    };
    handlers.exhausted = [weak] {
      if (const auto impl = weak.lock()) impl->take(host::Exhausted{});
    };
    handlers.turn_ended = [weak] {
      if (const auto impl = weak.lock()) impl->turn_ended();
    };
    listener_ = std::make_shared<Listener>(executor_, reserve_, std::move(handlers));
  }

  Expected<> listen() {
    Expected<> listening = listener_->listen(own_address_);
    if (listening && listener_->is_at_loopback() && is_elsewhere_for_others())
      listening = Failure{ExitCode::bad_configuration,
                          "this machine resolves the name in " + own_address_ +
                              " to a loopback address, which no other machine can reach: give this "
                              "node a listen address, such as listen = \"0.0.0.0:" +
                              std::to_string(port()) + "\", or correct /etc/hosts"};
    return listening;
  }
  [[nodiscard]] std::uint16_t port() const { return listener_->port(); }
  [[nodiscard]] const host::Sessions& sessions() const { return sessions_; }
  [[nodiscard]] const Traffic& traffic() const { return traffic_; }

  void relocate(NodeId node, std::string address) {
    config_.addresses.at(node) = std::move(address);
  }

  [[nodiscard]] std::optional<Duration> heard(NodeId node) const {
    const auto at = heard_.find(node);
    return at == heard_.end() ? std::nullopt : std::optional(at->second);
  }

  void greet() { take(host::Greet{}); }

  void send(Letter letter, std::optional<Duration> bound) {
    const std::size_t size = size_of_encoded(letter);
    take(host::SendLetter{std::move(letter), bound, size});
    end_turn_soon();
  }

  void keep_only(const std::function<bool(CallNumber)>& awaited) { sessions_.keep_only(awaited); }

  void break_where(const std::function<bool(const Connection&)>& it) {
    for (const auto& [number, connection] : std::map(connections_)) {
      if (connection->closed() || !it(*connection)) continue;
      connection->close();
      connections_.erase(number);
      take(host::Closed{number, ConnectionEnd::finished, "broken on purpose"});
    }
    end_turn_soon();
  }

  void close() {
    if (std::exchange(closed_, true)) return;
    timer_.cancel();
    for (const auto& [node, dial] : dials_) dial->give_up();
    for (const auto& [number, connection] : connections_) connection->close();
    listener_->close();
  }

  // --- Inputs from connections

  void on_frame(Connection& connection, Frame frame) override {
    traffic_.in.count(frame, connection.frame_size());
    take(host::Came{connection.number, std::move(frame), connection.frame_size(),
                    connection.proven()});
  }
  void on_connection_ended(Connection& connection, ConnectionEnd end,
                           const std::string& why) override {
    const host::ConnectionId number = connection.number;
    connections_.erase(number);
    take(host::Closed{number, end, why});
  }
  void writable(Connection& connection) override {
    if (std::erase(to_be_told_, connection.number) > 0) take(host::Writable{connection.number});
  }
  void turn_ended() override {
    flush();
    if (!closed_) handlers_.turn();
    flush();
    reserve_->restock();
  }

  // Sends everything that was written during one turn in one piece.
  void flush() {
    while (!unflushed_.empty()) {
      const std::vector<host::ConnectionId> numbers = std::exchange(unflushed_, {});
      for (host::ConnectionId number : numbers) {
        const auto at = connections_.find(number);
        if (at == connections_.end()) continue;
        const auto connection = at->second;
        connection->flush();
        if (connection->idle()) writable(*connection);
      }
    }
  }

 private:
  // True if another machine cannot dial this node under its name, as the name is a loopback address
  // on this machine alone (Debian's /etc/hosts: 127.0.1.1).
  [[nodiscard]] bool is_elsewhere_for_others() const {
    const auto own = parse_address(own_address_);
    return own && !own->is_loopback() &&
           std::any_of(config_.addresses.begin(), config_.addresses.end(), [&](const auto& other) {
             const auto address = parse_address(other.second);
             return address && address->host != own->host;
           });
  }

  void take(host::SessionInput input) {
    if (closed_) return;
    host::SessionOutputs outputs;
    sessions_.take(config_, monotonic_now(), std::move(input), outputs);
    for (host::SessionOutput& output : outputs)
      std::visit([this](auto& one) { perform(std::move(one)); }, output);
  }

  // --- Outputs

  void perform(host::Dial dial) {
    auto& dialled = dials_[dial.node];
    dialled = std::make_shared<Dial>(executor_, config_.T, reserve_);
    dialled->when_exhausted([self = shared_from_this()] {
      self->take(host::Exhausted{});
      self->turn_ended();
    });
    dialled->begin(config_.addresses.at(dial.node),
                   [self = shared_from_this(), node = dial.node](std::optional<DialEnd> failed,
                                                                 Tcp::socket socket) {
                     self->dial_ended(node, failed, std::move(socket));
                     self->turn_ended();
                   });
  }
  void dial_ended(NodeId node, std::optional<DialEnd> failed, Tcp::socket socket) {
    tell_of_name(node, dials_.at(node)->unresolved());
    dials_.erase(node);
    if (failed) return take(host::DialFailed{node, *failed});
    const auto connection = add(std::move(socket), frame_limit, tls_->channel(Side::dialled, node));
    take(host::Dialled{node, connection->number});
    connection->start();
  }
  // Warns that a name is not resolved, once until it has been resolved. Such a node counts as
  // silent, and the owner should know why.
  void tell_of_name(NodeId node, const std::string& unresolved) {
    if (unresolved.empty()) {
      nameless_.erase(node);
    } else if (nameless_.insert(node).second) {
      handlers_.warn("node " + std::to_string(node.value) + " cannot be dialled at " +
                     config_.addresses.at(node) + ": the name is not resolved (" + unresolved +
                     "); correct the name or the resolver; until then that node counts as silent");
    }
  }
  void perform(host::GiveUp dial) {
    dials_.at(dial.node)->give_up();
    dials_.erase(dial.node);
  }

  void accepted(Tcp::socket socket) {
    boost::system::error_code gone;
    std::string from = socket.remote_endpoint(gone).address().to_string();
    if (!sessions_.admits(config_, monotonic_now(), from)) return;
    prepare_stream(socket, config_.T);
    const auto connection = add(std::move(socket), longest_hello(), tls_->channel(Side::accepted));
    take(host::Accepted{connection->number, std::move(from)});
    connection->start();
  }

  // The longest Hello that is read. A node of another cluster can have a much longer text, and
  // still has to be told that its cluster is another one. An even longer Hello would only cost
  // time.
  [[nodiscard]] std::size_t longest_hello() const { return 2 * config_.self.cluster.size() + 8192; }

  std::shared_ptr<Connection> add(Tcp::socket socket, std::size_t most_at_first,
                                  std::unique_ptr<Channel> channel) {
    const Duration deadline = config_.limits.frame_deadline > Duration::zero()
                                  ? config_.limits.frame_deadline
                                  : config_.T;
    auto connection =
        std::make_shared<Connection>(std::move(socket), config_.self.wire, deadline,
                                     sessions_.counters, most_at_first, std::move(channel));
    connection->number = host::ConnectionId{++last_number_};
    connection->belongs_to(this);
    connections_.emplace(connection->number, connection);
    return connection;
  }

  void perform(host::Write write) { this->write(write.connection, write.frame); }
  void perform(host::TellStatus question) {
    write(question.connection, StatusAnswer{handlers_.status ? handlers_.status() : "{}"});
  }
  void write(host::ConnectionId number, const Frame& frame) {
    traffic_.out.count(frame, connections_.at(number)->put(frame));
    unflushed_.push_back(number);
  }
  void perform(host::TellRoom room) { to_be_told_.push_back(room.connection); }

  void perform(host::Close close) {
    const auto at = connections_.find(close.connection);
    if (at == connections_.end()) return;
    at->second->flush();
    at->second->close();
    connections_.erase(at);
  }

  // Reads everything that has already arrived, including connections that are accepted meanwhile.
  void perform(const host::Drain& drain) {
    const host::ConnectionId last{last_number_};
    if (drain.listener) listener_->accept_now(config_.limits.unknown_peers);
    std::vector<host::ConnectionId> numbers = drain.connections;
    for (std::uint64_t accepted = last.value + 1; accepted <= last_number_; ++accepted)
      numbers.push_back(host::ConnectionId{accepted});
    for (host::ConnectionId number : numbers)
      if (const auto at = connections_.find(number); at != connections_.end()) {
        const auto connection = at->second;
        connection->read_now();
      }
    take(host::Drained{});
  }

  void perform(host::HandOver asker) {
    const auto connection = connections_.at(asker.connection);
    connections_.erase(asker.connection);
    connection->flush();
    if (handlers_.asker)
      handlers_.asker(connection, asker.hello);
    else
      connection->close();
  }

  void perform(host::Wake wake) {
    timer_.expires_at(std::chrono::steady_clock::time_point(wake.at));
    timer_.async_wait([self = shared_from_this()](boost::system::error_code error) {
      if (error) return;
      self->take(host::Due{});
      self->turn_ended();
    });
  }

  void perform(host::LetterCame came) {
    heard_[came.letter.from] = monotonic_now();
    handlers_.event(Received{std::move(came.letter), came.instance});
  }
  void perform(host::CallUnanswered call) {
    handlers_.event(Unanswered{call.by, call.call, call.how});
  }
  void perform(host::LifeOver over) { handlers_.event(Failed{over.node, over.life}); }
  void perform(host::OthersDiffer others) {
    handlers_.event(Differing{std::move(others.differ), std::move(others.agree)});
  }
  void perform(const host::OutlivedBy& outlived) { handlers_.outlived(outlived.life_claims); }
  void perform(host::Warning warning) { handlers_.warn(std::move(warning.text)); }

  void end_turn_soon() {
    if (std::exchange(ends_turn_soon_, true)) return;
    boost::asio::post(executor_, [self = shared_from_this()] {
      self->ends_turn_soon_ = false;
      self->turn_ended();
    });
  }

  boost::asio::any_io_executor executor_;
  host::SessionConfig config_;
  std::string own_address_;
  Handlers handlers_;
  const std::shared_ptr<const Tls> tls_;
  host::Sessions sessions_;
  Traffic traffic_;
  std::map<host::ConnectionId, std::shared_ptr<Connection>> connections_;
  std::uint64_t last_number_ = 0;
  std::map<NodeId, std::shared_ptr<Dial>> dials_;
  std::set<NodeId> nameless_;  ///< nodes whose names were not resolved at the last dial
  const std::shared_ptr<Reserve> reserve_ = std::make_shared<Reserve>();
  std::shared_ptr<Listener> listener_;
  boost::asio::steady_timer timer_;
  std::vector<host::ConnectionId> unflushed_;
  std::vector<host::ConnectionId> to_be_told_;
  std::map<NodeId, Duration> heard_;  ///< the time of each node's last letter, for the status
  bool ends_turn_soon_ = false;
  bool closed_ = false;
};

namespace {

host::SessionConfig config_of(Self self, std::map<NodeId, std::string> addresses, Duration T,
                              const SessionLimits& limits) {
  addresses.erase(self.id);
  return {std::move(self), std::move(addresses), T, limits};
}

}  // namespace

Sessions::Sessions(boost::asio::any_io_executor executor, Self self,
                   std::map<NodeId, std::string> addresses, Duration T, SessionLimits limits,
                   const SafeState& safe, Handlers handlers, const std::string& listen,
                   std::shared_ptr<const Tls> tls) {
  std::string own_address = listen.empty() ? addresses[self.id] : listen;
  if (!tls) tls = std::make_shared<Tls>();
  impl_ = std::make_shared<Impl>(std::move(executor),
                                 config_of(std::move(self), std::move(addresses), T, limits),
                                 std::move(own_address), safe, std::move(handlers), std::move(tls));
  impl_->begin();
}

Sessions::~Sessions() {
  close();
}

Expected<> Sessions::listen() {
  return impl_->listen();
}
std::uint16_t Sessions::port() const {
  return impl_->port();
}

void Sessions::relocate(NodeId node, std::string address) {
  impl_->relocate(node, std::move(address));
}

void Sessions::greet() {
  impl_->greet();
}

void Sessions::send(Letter letter, std::optional<Duration> bound) {
  impl_->send(std::move(letter), bound);
}

void Sessions::keep_only(const std::function<bool(CallNumber)>& awaited) {
  impl_->keep_only(awaited);
}

void Sessions::flush() {
  impl_->flush();
}

void Sessions::break_connections() {
  impl_->break_where([](const Connection&) { return true; });
}
void Sessions::break_unproven(std::chrono::system_clock::time_point now) {
  impl_->break_where([now](const Connection& one) { return one.outlasts_its_proof(now); });
}
void Sessions::close() {
  impl_->close();
}
std::optional<Duration> Sessions::heard(NodeId node) const {
  return impl_->heard(node);
}
const Counters& Sessions::counters() const {
  return impl_->sessions().counters;
}
const Traffic& Sessions::traffic() const {
  return impl_->traffic();
}
const std::map<NodeId, std::string>& Sessions::differing() const {
  return impl_->sessions().differing;
}
std::map<NodeId, Incarnation> Sessions::lives() const {
  return impl_->sessions().lives();
}
std::map<NodeId, std::uint8_t> Sessions::wire() const {
  return impl_->sessions().wire();
}

}  // namespace muster::net
