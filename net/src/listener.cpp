#include "listener.hpp"

#include "hello_check.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace muster::net {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

std::string name_of(NodeId node) {
  return "node " + std::to_string(node.value);
}

Failure cannot_listen(const std::string& address, const error_code& error) {
  if (error == asio::error::address_in_use) {
    return Failure{ExitCode::temporary,
                   "cannot listen at " + address +
                       ": the address is in use; end the process that holds it "
                       "(ss -ltnp names it), or give this node another one"};
  }
  return Failure{ExitCode::bad_configuration,
                 "cannot listen at " + address + ": " + error.message() +
                     "; give this node an address of this machine that it may listen at"};
}

}  // namespace

Listener::Listener(std::shared_ptr<Context> context, Handlers handlers)
    : context_(std::move(context)),
      handlers_(std::move(handlers)),
      acceptor_(context_->executor),
      retry_(context_->executor) {}

Expected<> Listener::listen(const std::string& address) {
  const auto parsed = parse_address(address);
  if (!parsed) return parsed.error();
  error_code error;
  Tcp::resolver resolver(context_->executor);
  const auto found = resolver.resolve(parsed->host, parsed->port, Tcp::resolver::passive, error);
  if (error || found.empty()) return cannot_listen(address, error);
  const Tcp::endpoint endpoint = found.begin()->endpoint();
  acceptor_.open(endpoint.protocol(), error);
  if (!error) {
    close_on_exec(acceptor_.native_handle());
    acceptor_.set_option(Tcp::acceptor::reuse_address(true), error);
  }
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (!error) acceptor_.non_blocking(true, error);
  if (error) {
    error_code ignored;
    acceptor_.close(ignored);
    return cannot_listen(address, error);
  }
  high_.open(acceptor_.native_handle());
  accept();
  return {};
}

// When a process dies and none of its code runs, the kernel lets go of what has the highest
// descriptor first. By a descriptor above those of all connections the listener is gone before
// they are: who sees one of them end, and dials, is refused.
void Listener::SecondDescriptor::open(int descriptor) {
  constexpr rlim_t highest = 4096;  // the table of descriptors has a place for each below it
  constexpr rlim_t beside = 16;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= beside) return;
  const auto from = static_cast<int>(std::min(limit.rlim_cur, highest) - beside);
  descriptor_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, from);
}

void Listener::SecondDescriptor::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

std::uint16_t Listener::port() const {
  error_code none;
  return acceptor_.local_endpoint(none).port();
}

void Listener::accept() {
  acceptor_.async_wait(Tcp::acceptor::wait_read, [self = shared_from_this()](error_code error) {
    if (error || !self->acceptor_.is_open()) return;
    Tcp::socket socket(self->context_->executor);
    self->acceptor_.accept(socket, error);
    if (!error) self->took(std::move(socket));
    if (error == asio::error::no_descriptors || error == asio::error::no_memory ||
        error == error_code(ENFILE, boost::system::system_category()))
      return self->accept_later();
    self->accept();
  });
}

// No descriptor is left for another connection. Those of the cluster's nodes are kept, all others
// go.
void Listener::accept_later() {
  context_->warn("descriptors",
                 "no file descriptor is left for connections: raise the limit (ulimit -n)");
  make_room(false, 0);
  make_room(true, 0);
  retry_.expires_after(accept_again_after);
  retry_.async_wait([self = shared_from_this()](error_code error) {
    if (!error && self->acceptor_.is_open()) self->accept();
  });
  turn_ended();
}

void Listener::took(Tcp::socket socket) {
  close_on_exec(socket.native_handle());
  prepare_stream(socket, context_->T);
  ++context_->counters.accepted;
  make_room(false, context_->limits.strangers - 1);
  auto connection = std::make_shared<Connection>(std::move(socket), context_->frame_deadline(),
                                                 context_->counters);
  connection->belongs_to(this);
  strangers_.push_back({connection, asio::steady_timer(context_->executor), false});
  watch(std::prev(strangers_.end()));
  connection->start();
}

// The oldest gives way: who means well has said Hello by then.
void Listener::make_room(bool observers, std::size_t most) {
  auto count = static_cast<std::size_t>(
      std::count_if(strangers_.begin(), strangers_.end(),
                    [&](const Stranger& stranger) { return stranger.observer == observers; }));
  for (auto at = strangers_.begin(); at != strangers_.end() && count > most;) {
    if (at->observer != observers) {
      ++at;
      continue;
    }
    ++context_->counters.crowded;
    at->connection->close();
    at = strangers_.erase(at);
    --count;
  }
}

void Listener::watch(Strangers::iterator stranger) {
  stranger->timer.expires_after(context_->hello_deadline());
  stranger->timer.async_wait(
      [self = shared_from_this(), connection = stranger->connection](error_code error) {
        if (error || connection->closed()) return;
        connection->read_now();  // it may be this process that was late
        const auto late = self->find(*connection);
        if (late != self->strangers_.end() && !connection->closed()) {
          if (!late->observer) ++self->context_->counters.garbage;
          connection->close();
          self->strangers_.erase(late);
        }
        self->turn_ended();
      });
}

Listener::Strangers::iterator Listener::find(const Connection& connection) {
  return std::find_if(strangers_.begin(), strangers_.end(), [&](const Stranger& stranger) {
    return stranger.connection.get() == &connection;
  });
}

void Listener::read_hellos() {
  for (std::size_t i = 0; i < context_->limits.strangers; ++i) {
    error_code error;
    Tcp::socket socket(context_->executor);
    acceptor_.accept(socket, error);
    if (error) break;
    took(std::move(socket));
  }
  std::vector<std::shared_ptr<Connection>> waiting;
  for (const Stranger& stranger : strangers_) waiting.push_back(stranger.connection);
  for (const auto& connection : waiting)
    if (!connection->closed() && find(*connection) != strangers_.end()) connection->read_now();
}

void Listener::came(Connection& connection, Frame frame) {
  const auto stranger = find(connection);
  if (stranger == strangers_.end()) return connection.close();
  if (stranger->observer && std::holds_alternative<StatusQuestion>(frame)) {
    append_frame(connection.out(), StatusAnswer{handlers_.status ? handlers_.status() : "{}"});
    return connection.flush();
  }
  if (const auto* hello = std::get_if<Hello>(&frame); hello && !stranger->observer)
    return heard(stranger, *hello);
  ++context_->counters.garbage;
  connection.close();
  strangers_.erase(stranger);
}

void Listener::ended(Connection& connection, End end, const std::string&) {
  if (end != End::finished) ++context_->counters.garbage;
  if (const auto stranger = find(connection); stranger != strangers_.end())
    strangers_.erase(stranger);
}

void Listener::heard(Strangers::iterator stranger, const Hello& hello) {
  if (const auto refusal = refuse_speech(context_->self, hello)) {
    if (refusal->reason == RefusalReason::cluster) tell_difference(hello);
    return refuse(stranger, *refusal, hello.from);
  }
  if (const auto refusal = refuse_namesake(hello)) return refuse(stranger, *refusal, hello.from);
  if (hello.role == Role::observer) return heard_observer(stranger);
  if (hello.to != context_->self.id) {
    const Refusal refusal{RefusalReason::stranger, "this is " + name_of(context_->self.id) +
                                                       ", not " + name_of(hello.to) +
                                                       ", which was dialled"};
    return refuse(stranger, refusal, hello.from);
  }
  if (hello.role == Role::asker) return heard_asker(stranger, hello);
  const auto connection = stranger->connection;
  strangers_.erase(stranger);
  if (handlers_.greeted(connection, hello)) return;
  strangers_.push_back({connection, asio::steady_timer(context_->executor), false});
  refuse(std::prev(strangers_.end()),
         Refusal{RefusalReason::stranger, "the cluster has no " + name_of(hello.from)}, hello.from);
}

void Listener::heard_observer(Strangers::iterator stranger) {
  stranger->observer = true;
  const auto connection = stranger->connection;
  watch(stranger);
  make_room(true, context_->limits.observers);
  append_frame(connection->out(), context_->hello(NodeId{}));
  connection->flush();
}

void Listener::heard_asker(Strangers::iterator stranger, const Hello& hello) {
  const auto connection = stranger->connection;
  strangers_.erase(stranger);
  if (!handlers_.asker) return connection->close();
  append_frame(connection->out(), context_->hello(hello.from));
  connection->flush();
  handlers_.asker(connection, hello);
}

// In what another cluster differs. The one that is refused learns it as this one does: from the
// Hello that it gets when it is dialled.
void Listener::tell_difference(const Hello& hello) {
  const bool is_member = hello.role == Role::node && handlers_.is_member(hello.from);
  const std::string name = hello.from == NodeId{} ? "an observer" : name_of(hello.from);
  // One matter for all strangers: anybody can say any id.
  context_->warn_of(is_member ? "cluster of " + name : "Hello", [&] {
    const std::string keys = differing_keys(context_->self, hello);
    if (is_member) context_->differing[hello.from] = keys;
    return "refused " + name + ": the clusters differ in " + keys;
  });
}

// Somebody says that it is this very node, and speaks for its cluster. That is told, and no more:
// whoever was dialled in the place of a node that is down can say it too.
std::optional<Refusal> Listener::refuse_namesake(const Hello& hello) {
  const Self& self = context_->self;
  if (hello.role != Role::node || hello.from != self.id) return std::nullopt;
  const std::string name = name_of(self.id);
  if (hello.instance == self.instance) {
    return Refusal{RefusalReason::oneself, name + " has dialled itself: the address of " +
                                               name_of(hello.to) + " is its own"};
  }
  if (hello.incarnation > self.incarnation) {
    return Refusal{RefusalReason::clone, "another process says that it is a later life of " + name};
  }
  return Refusal{RefusalReason::clone, "two processes say that they are " + name};
}

void Listener::refuse(Strangers::iterator stranger, const Refusal& refusal, NodeId who) {
  ++context_->counters.refused_hellos;
  if (refusal.reason != RefusalReason::cluster)  // of which tell_difference has more
    context_->warn("Hello", "refused " + (who == NodeId{} ? "an observer" : name_of(who)) + ": " +
                                refusal.text);
  append_frame(stranger->connection->out(), refusal);
  stranger->connection->flush();
  stranger->connection->close();
  strangers_.erase(stranger);
}

void Listener::close() {
  for (Stranger& stranger : strangers_) stranger.connection->close();
  strangers_.clear();
  retry_.cancel();
  high_.close();
  error_code ignored;
  acceptor_.close(ignored);
}

}  // namespace muster::net
