#include <muster/net/sessions.hpp>

#include "context.hpp"
#include "listener.hpp"
#include "peer.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <set>
#include <utility>
#include <vector>

namespace muster::net {

class Sessions::Impl : public std::enable_shared_from_this<Sessions::Impl> {
 public:
  Impl(boost::asio::any_io_executor executor, Self self, std::map<NodeId, std::string> addresses,
       Duration T, const SessionLimits& limits, const std::map<NodeId, Incarnation>& seen,
       Handlers handlers)
      : context_(std::make_shared<Context>()), handlers_(std::move(handlers)), timer_(executor) {
    context_->executor = std::move(executor);
    context_->self = std::move(self);
    context_->T = T;
    context_->limits = limits;
    for (auto& [id, address] : addresses) {
      if (id == context_->self.id) {
        address_ = std::move(address);
        continue;
      }
      const auto at = seen.find(id);
      const Incarnation last = at == seen.end() ? Incarnation{} : at->second;
      peers_.emplace(id, std::make_shared<Peer>(context_, id, std::move(address), last));
    }
  }

  void begin() {
    const auto weak = weak_from_this();
    context_->deliver = [weak] {
      if (const auto impl = weak.lock()) impl->deliver();
    };
    Listener::Handlers handlers;
    handlers.is_member = [weak](NodeId node) {
      const auto impl = weak.lock();
      return impl && impl->find(node) != nullptr;
    };
    handlers.greeted = [weak](const std::shared_ptr<Connection>& connection, const Hello& hello) {
      const auto impl = weak.lock();
      Peer* const peer = impl ? impl->find(hello.from) : nullptr;
      if (peer) peer->greeted(connection, hello);
      return peer != nullptr;
    };
    handlers.asker = handlers_.asker;
    handlers.status = handlers_.status;
    listener_ = std::make_shared<Listener>(context_, std::move(handlers));
    context_->read_hellos = [listener = std::weak_ptr(listener_)] {
      if (const auto there = listener.lock()) there->read_hellos();
    };
  }

  Expected<> listen() { return listener_->listen(address_); }
  [[nodiscard]] std::uint16_t port() const { return listener_->port(); }
  [[nodiscard]] Context& context() { return *context_; }

  Peer* find(NodeId node) {
    const auto at = peers_.find(node);
    return at == peers_.end() ? nullptr : at->second.get();
  }

  void send(const Letter& letter, std::optional<Duration> bound) {
    if (context_->closed) return;
    Peer* const peer = find(letter.to);
    std::string bytes = encode_letter(letter);
    if (!fits(bytes.size())) {
      context_->warn("size", "a letter of " + std::to_string(bytes.size()) +
                                 " bytes is more than a frame holds, and was not sent");
      bytes.clear();
    }
    if (is_answer(letter)) {
      if (peer && !bytes.empty()) peer->answer(letter.call, std::move(bytes));
    } else {
      make_call(peer, letter, bound, std::move(bytes));
    }
    if (!context_->notices.empty()) deliver_soon();
  }

  void keep_only(const std::function<bool(CallNumber)>& awaited) {
    context_->calls.keep_only(awaited);
  }

  void greet() {
    for (const auto& [id, peer] : peers_) peer->greet();
  }

  void break_connections() {
    for (const auto& [id, peer] : peers_) peer->break_connection();
    deliver_soon();
  }

  void close() {
    if (context_->closed) return;
    context_->closed = true;
    context_->notices.clear();
    timer_.cancel();
    for (const auto& [id, peer] : peers_) peer->close();
    listener_->close();
  }

  [[nodiscard]] std::map<NodeId, Incarnation> lives() const {
    std::map<NodeId, Incarnation> lives;
    for (const auto& [id, peer] : peers_)
      if (peer->session()) lives.emplace(id, peer->session()->life());
    return lives;
  }

 private:
  void make_call(Peer* peer, const Letter& letter, std::optional<Duration> bound,
                 std::string bytes) {
    Call call;
    call.number = letter.call;
    call.to = letter.to;
    call.life = life_called(letter);
    call.made = ++context_->clock;
    if (bound) call.deadline = Clock::now() + *bound;
    const bool can_be_sent = !bytes.empty();
    call.bytes = std::move(bytes);
    context_->calls.add(std::move(call));
    Call* const made = context_->calls.pending(letter.call);
    if (made && !(peer && can_be_sent))
      context_->unanswered(*made);
    else if (made)
      peer->call_made(*made);
    arm();
  }

  // The handlers are told what has happened, in order. What they do may add to it.
  void deliver() {
    if (delivering_) return;
    delivering_ = true;
    const auto self = shared_from_this();
    while (!context_->notices.empty() && !context_->closed) {
      Notice notice = std::move(context_->notices.front());
      context_->notices.pop_front();
      std::visit([this](auto& one) { tell(one); }, notice);
    }
    delivering_ = false;
  }

  void deliver_soon() {
    boost::asio::post(context_->executor, [self = shared_from_this()] { self->deliver(); });
  }

  void tell(LetterCame& came) {
    const NodeId from = came.letter.from;
    const CallNumber call = came.letter.call;
    if (is_answer(came.letter)) {
      if (!context_->calls.erase(call)) return;  // given up
    } else if (Peer* const peer = find(from)) {
      peer->asked(came.instance, call);
    }
    handlers_.received(std::move(came.letter));
  }
  void tell(CallUnanswered& unanswered) {
    if (context_->calls.erase(unanswered.call))
      handlers_.unanswered(unanswered.by, unanswered.call);
  }
  void tell(LifeOver& over) { handlers_.failed(over.node, over.life); }
  void tell(OutlivedBy& outlived) { handlers_.outlived(outlived.voices); }
  void tell(Warning& warning) { handlers_.warn(std::move(warning.text)); }

  // One timer for the bounds of all calls. It may be early, for calls that were answered.
  void arm() {
    const auto next = context_->calls.next_deadline();
    if (!next || (armed_ && *armed_ <= *next)) return;
    armed_ = next;
    timer_.expires_at(*next);
    timer_.async_wait([self = shared_from_this()](boost::system::error_code error) {
      if (error || self->context_->closed) return;
      self->armed_.reset();
      self->bounds_passed();
      self->deliver();
      self->arm();
    });
  }

  // Silence: what can be read at this moment is read before a call is unanswered.
  void bounds_passed() {
    const auto overdue = context_->calls.overdue(Clock::now());
    std::set<NodeId> silent;
    for (const auto& [node, call] : overdue) silent.insert(node);
    for (NodeId node : silent)
      if (Peer* const peer = find(node)) peer->read_now();
    for (const auto& [node, number] : overdue)
      if (Call* const call = context_->calls.pending(number)) context_->unanswered(*call);
  }

  std::shared_ptr<Context> context_;
  Handlers handlers_;
  std::string address_;
  std::map<NodeId, std::shared_ptr<Peer>> peers_;
  std::shared_ptr<Listener> listener_;
  boost::asio::steady_timer timer_;
  std::optional<Clock::time_point> armed_;
  bool delivering_ = false;
};

Sessions::Sessions(boost::asio::any_io_executor executor, Self self,
                   std::map<NodeId, std::string> addresses, Duration T, SessionLimits limits,
                   std::map<NodeId, Incarnation> seen, Handlers handlers)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(self), std::move(addresses), T,
                                   limits, seen, std::move(handlers))) {
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
  if (Peer* const peer = impl_->find(node)) peer->relocate(std::move(address));
}

void Sessions::greet() {
  impl_->greet();
}

void Sessions::send(Letter letter, std::optional<Duration> bound) {
  impl_->send(letter, bound);
}

void Sessions::keep_only(const std::function<bool(CallNumber)>& awaited) {
  impl_->keep_only(awaited);
}

void Sessions::break_connections() {
  impl_->break_connections();
}
void Sessions::close() {
  impl_->close();
}
const Counters& Sessions::counters() const {
  return impl_->context().counters;
}
const std::map<NodeId, std::string>& Sessions::differing() const {
  return impl_->context().differing;
}
std::map<NodeId, Incarnation> Sessions::lives() const {
  return impl_->lives();
}

}  // namespace muster::net
