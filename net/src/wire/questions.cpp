#include "wire/questions.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace muster::net {

namespace {

// A frame could hold more. But after a short piece a letter that waits is sent sooner.
constexpr std::size_t piece_bytes = 32 * 1024;
constexpr std::size_t longest_reason = 1024;

Done<Bytes>::Outcome failed(NodeId node, const std::string& why) {
  return {boost::system::in_place_error, "node " + std::to_string(node.value) + ": " + why};
}

}  // namespace

Questions::Questions(boost::asio::any_io_executor executor, Self self,
                     const std::map<NodeId, std::string>& addresses, Duration T, Limits limits,
                     std::shared_ptr<const Tls> tls, Handlers handlers)
    : executor_(std::move(executor)),
      self_(std::move(self)),
      addresses_(addresses),
      bound_(T),
      limits_(limits),
      tls_(std::move(tls)),
      handlers_(std::move(handlers)) {}

void Questions::close() {
  give_up();
  while (!answering_.empty()) drop(answering_.begin());
}

// --- Questions of this node

void Questions::ask(NodeId member, Inquiry inquiry, Answered answered) {
  Exchange& exchange = asking_.emplace_back();
  exchange.other = member;
  exchange.asks = Asks{inquiry.group, inquiry.working};
  exchange.asked = std::move(inquiry.bytes.data);
  exchange.answered = std::move(answered);
  exchange.dial = std::make_shared<Dial>(executor_, bound_);
  exchange.dial->begin(
      addresses_.at(member),
      [weak = weak_from_this(), member](std::optional<DialEnd> failure, Tcp::socket socket) {
        if (const auto self = weak.lock()) self->connected(member, failure, std::move(socket));
      });
}

void Questions::connected(NodeId member, std::optional<DialEnd> failure, Tcp::socket socket) {
  const auto exchange = std::find_if(asking_.begin(), asking_.end(),
                                     [member](const Exchange& one) { return one.other == member; });
  if (exchange == asking_.end()) return;
  if (failure) return finish(exchange, failed(member, "it cannot be reached"));
  exchange->connection =
      std::make_shared<Connection>(std::move(socket), self_.wire, bound_, counters_, frame_limit,
                                   tls_->channel(Side::dialled, member));
  exchange->connection->belongs_to(this);
  exchange->connection->put(host::hello_of(self_, Role::asker, member));
  exchange->connection->flush();
  exchange->connection->start();
}

void Questions::came_to_ask(Exchanges::iterator exchange, Frame frame) {
  const NodeId member = exchange->other;
  if (std::holds_alternative<Hello>(frame)) {
    exchange->connection->put(*exchange->asks);
    exchange->out = std::exchange(exchange->asked, {});
    return write(*exchange);
  }
  if (const auto* refusal = std::get_if<Refusal>(&frame))
    return finish(exchange, failed(member, refusal->text));
  if (const auto* refused = std::get_if<NoAnswer>(&frame))
    return finish(exchange, failed(member, refused->why));
  const auto* piece = std::get_if<Piece>(&frame);
  if (!piece || too_much(*exchange, *piece))
    return finish(exchange, failed(member, "it sent something that is not an answer"));
  exchange->in += piece->bytes;
  if (piece->last) finish(exchange, Bytes{std::move(exchange->in)});
}

void Questions::finish(Exchanges::iterator exchange, const Done<Bytes>::Outcome& answer) {
  const Answered answered = exchange->answered;
  drop(exchange);
  answered(answer);
}

void Questions::give_up() {
  while (!asking_.empty()) drop(asking_.begin());
}

// --- Questions to this node

void Questions::take(std::shared_ptr<Connection> connection, const Hello& hello) {
  if (answering_.size() >= limits_.connections) drop(answering_.begin());
  Exchange& exchange = answering_.emplace_back();
  exchange.other = hello.from;
  exchange.connection = std::move(connection);
  exchange.connection->belongs_to(this);
}

void Questions::came_to_answer(Exchanges::iterator exchange, Frame frame) {
  if (exchange->refused) return;
  const auto* asks = std::get_if<Asks>(&frame);
  if (asks && !exchange->asks && asks->group.coordinator == exchange->other) {
    exchange->asks = *asks;
    return;
  }
  const auto* piece = std::get_if<Piece>(&frame);
  const bool may_come = exchange->asks && exchange->question == 0;
  if (!piece || !may_come || too_much(*exchange, *piece)) return drop(exchange);
  // The group is checked before more of the question is kept.
  const GroupNumber group = exchange->asks->group;
  if (!handlers_.is_in(group))
    return refuse(*exchange, "it is not in group " + std::to_string(group.counter));
  exchange->in += piece->bytes;
  if (!piece->last) return;
  exchange->question = handlers_.asked(
      {exchange->other, group, exchange->asks->working, Bytes{std::exchange(exchange->in, {})}},
      [weak = weak_from_this(), kept = exchange->connection](const Done<Bytes>::Outcome& outcome) {
        if (const auto self = weak.lock()) self->answer(*kept, outcome);
      });
}

void Questions::answer(const Connection& connection, const Done<Bytes>::Outcome& answer) {
  const auto exchange = find(answering_, connection);
  if (exchange == answering_.end()) return;
  if (answer) {
    exchange->out = answer->data;
    write(*exchange);
  } else {
    refuse(*exchange, answer.error());
  }
}

// Refuses a question. The connection stays open until the other side has read the reason.
void Questions::refuse(Exchange& exchange, std::string why) {
  why.resize(std::min(why.size(), longest_reason));
  exchange.connection->put(NoAnswer{std::move(why)});
  exchange.connection->flush();
  exchange.refused = true;
}

// --- Both directions

bool Questions::too_much(const Exchange& exchange, const Piece& piece) const {
  return exchange.in.size() + piece.bytes.size() > limits_.bytes;
}

// Writes a few pieces at a time, so that letters get their turn. The last piece, which can be
// empty, is marked as the last.
void Questions::write(Exchange& exchange) {
  if (!exchange.out) return;
  Connection& to = *exchange.connection;
  bool last = false;
  while (!last && to.waiting() < host::enough_bytes) {
    const auto piece = std::string_view(*exchange.out).substr(exchange.written, piece_bytes);
    exchange.written += piece.size();
    last = exchange.written == exchange.out->size();
    to.put(Piece{std::string(piece), last});
  }
  if (last) exchange.out.reset();
  to.flush();
  if (last || to.waiting() > 0) return;  // if bytes still wait, `writable` will be called
  boost::asio::post(executor_, [weak = weak_from_this(), connection = exchange.connection] {
    if (const auto self = weak.lock()) self->writable(*connection);
  });
}

void Questions::on_frame(Connection& connection, Frame frame) {
  if (const auto asks = find(asking_, connection); asks != asking_.end())
    came_to_ask(asks, std::move(frame));
  else if (const auto asked = find(answering_, connection); asked != answering_.end())
    came_to_answer(asked, std::move(frame));
  else
    connection.close();
}

void Questions::on_connection_ended(Connection& connection, ConnectionEnd, const std::string& why) {
  if (const auto asks = find(asking_, connection); asks != asking_.end())
    finish(asks, failed(asks->other, "the connection ended: " + why));
  else if (const auto asked = find(answering_, connection); asked != answering_.end())
    drop(asked);
}

void Questions::writable(Connection& connection) {
  for (Exchanges* exchanges : {&asking_, &answering_})
    if (const auto exchange = find(*exchanges, connection); exchange != exchanges->end())
      write(*exchange);
}

void Questions::drop(Exchanges::iterator exchange) {
  if (exchange->dial) exchange->dial->give_up();
  if (exchange->connection) exchange->connection->close();
  const std::uint64_t question = exchange->question;
  (exchange->answered ? asking_ : answering_).erase(exchange);
  if (question != 0) handlers_.not_wanted(question);
}

Questions::Exchanges::iterator Questions::find(Exchanges& exchanges, const Connection& connection) {
  return std::find_if(exchanges.begin(), exchanges.end(),
                      [&](const Exchange& one) { return one.connection.get() == &connection; });
}

}  // namespace muster::net
