// The effect of one move on a world.

#include "session_world.hpp"

#include <algorithm>

namespace muster::lab::sessions {

namespace {

using namespace std::chrono_literals;

constexpr Duration T = 800ms;

/// Makes one move.
class Making {
 public:
  Making(SessionWorld& world, const SessionBounds& bounds) : world_(world), bounds_(bounds) {}

  void make(const Move& move);

 private:
  using Ends = std::pair<Side*, Side*>;

  SessionLife& life(unsigned node) { return *node_at(world_, node).life; }
  host::SessionConfig config_of(unsigned node) {
    const SessionLife& own = life(node);
    return {{id_of(node), own.incarnation, own.instance, {}},
            {{id_of(other(node)), {}}},
            T,
            {},
            bounds_.struck};
  }
  /// The two sides of a link, beginning with that of the node.
  Ends ends(std::size_t link, unsigned node) {
    Link& at = world_.links[link];
    if (at.dialler.node == node) return {&at.dialler, &at.acceptor};
    return {&at.acceptor, &at.dialler};
  }
  bool is_mine(const Side& side, unsigned node) {
    const auto& life = node_at(world_, node).life;
    return side.open && side.node == node && life && side.instance == life->instance;
  }
  /// The index of the link of that connection; the number of links if there is none.
  std::size_t link_of(unsigned node, host::ConnectionId number) {
    std::size_t at = 0;
    for (; at < world_.links.size(); ++at) {
      const Side& mine = *ends(at, node).first;
      if (is_mine(mine, node) && mine.number == number) break;
    }
    return at;
  }
  /// A life that has the number of an earlier life counts as outlived as soon as a node finds out
  /// that it does.
  static bool works(const std::optional<SessionLife>& life) { return life && !life->restored; }
  void note(Complaint complaint) {
    if (world_.violated.empty()) world_.violated = std::move(complaint);
  }

  void give(unsigned node, host::SessionInput input);
  void begin(unsigned node, Instance instance, bool restored);
  void end(unsigned node, bool silently, bool lose);
  void arrive(unsigned node);
  void tell(unsigned node);
  void come_again(std::size_t link, unsigned node);
  void accept(std::size_t link, unsigned node);
  void read(std::size_t link, unsigned node);
  void close(std::size_t link, unsigned node);
  bool stands(std::size_t link, unsigned node);
  void send(unsigned node, CallNumber call, Message message, std::optional<Duration> bound);
  void call(unsigned node, bool to_life);
  void answer(unsigned node, std::size_t which);
  void come_due(unsigned node, std::size_t which);

  void perform(unsigned node, const host::Dial&) { life(node).dial = DialState::out; }
  void perform(unsigned node, const host::GiveUp&);
  void perform(unsigned node, const host::Write& write);
  void perform(unsigned node, const host::Close& closing);
  void perform(unsigned node, const host::Drain& drain);
  void perform(unsigned node, const host::LetterCame& came);
  void perform(unsigned node, const host::CallUnanswered& call);
  void perform(unsigned node, const host::LifeOver& over);
  template <class Output>
  void perform(unsigned, const Output&) {}

  SessionWorld& world_;
  const SessionBounds& bounds_;
  std::uint64_t read_from_{};         ///< the instance that wrote the frame
  std::uint64_t was_with_{};          ///< the instance of the session before the input
  host::ConnectionId was_connected_;  ///< the connection of the session before the input; 0: none
  bool closed_unread_ = false;  ///< a connection with unread letters of that instance was closed
  std::optional<CallNumber> is_due_;  ///< the call whose bound has passed
};

void Making::make(const Move& move) {
  switch (move.what) {
    case MoveKind::begins:
      ++world_.had.lives;
      return begin(move.node, {++node_at(world_, move.node).lives, 0}, false);
    case MoveKind::begins_from_old_store:
      ++world_.had.restores;
      return begin(move.node, {move.which, world_.had.restores}, true);
    case MoveKind::fails:
      return end(move.node, false, false);
    case MoveKind::fails_and_loses:
      return end(move.node, false, true);
    case MoveKind::machine_stops:
      ++world_.had.silences;
      return end(move.node, true, true);
    case MoveKind::connection_reset: {
      ++world_.had.resets;
      Link& link = world_.links[move.which];
      for (Side* side : {&link.dialler, &link.acceptor}) side->coming = {Gone{}};
      return;
    }
    case MoveKind::connection_noticed:
      ends(move.which, move.node).first->coming.emplace_back(Gone{});
      return;
    case MoveKind::hello_comes_again:
      ++world_.had.replays;
      return come_again(move.which, move.node);
    case MoveKind::dial_arrives:
      return arrive(move.node);
    case MoveKind::dial_is_silent:
      life(move.node).dial.reset();
      return give(move.node, host::DialFailed{id_of(other(move.node)), host::DialEnd::silence});
    case MoveKind::dial_is_told:
      return tell(move.node);
    case MoveKind::reads:
      return read(move.which, move.node);
    case MoveKind::calls_the_node:
    case MoveKind::calls_the_life:
      return call(move.node, move.what == MoveKind::calls_the_life);
    case MoveKind::answers:
      return answer(move.node, move.which);
    case MoveKind::deadline:
      return come_due(move.node, move.which);
  }
}

void Making::give(unsigned node, host::SessionInput input) {
  SessionLife& own = life(node);
  const host::Peer& peer = own.sessions.peers.at(id_of(other(node)));
  was_with_ = peer.session ? peer.session->instance : 0;
  const auto* connected = std::get_if<host::Connected>(&peer.touch);
  was_connected_ = connected ? connected->connection : host::ConnectionId{};
  closed_unread_ = false;
  host::SessionOutputs outputs;
  own.sessions.take(config_of(node), present, std::move(input), outputs);
  for (const host::SessionOutput& output : outputs)
    std::visit([&](const auto& one) { perform(node, one); }, output);
}

// --- Lives

// An old store does not contain lives that were met after the copy.
void Making::begin(unsigned node, Instance instance, bool restored) {
  Node& own = node_at(world_, node);
  own.off = false;
  own.life.emplace();
  own.life->incarnation = Incarnation{instance.life};
  own.life->instance = instance_of(node, instance);
  own.life->restored = restored;
  if (restored) own.safe = {};
  own.life->channel.outlived = own.safe.seen[id_of(other(node))];
  own.life->sessions = host::Sessions::begin(config_of(node), own.safe);
  give(node, host::Greet{});
}

// The kernel closes the connections of a process that ends. A machine that stops closes nothing.
void Making::end(unsigned node, bool silently, bool lose) {
  for (std::size_t link = 0; link < world_.links.size(); ++link) {
    const auto [mine, theirs] = ends(link, node);
    if (!is_mine(*mine, node)) continue;
    mine->open = false;
    mine->coming.clear();
    if (!theirs->open) continue;
    if (lose) theirs->coming.clear();
    if (!silently) theirs->coming.emplace_back(Gone{});
  }
  Node& own = node_at(world_, node);
  const NodeId there = id_of(other(node));
  if (const host::Peer& peer = own.life->sessions.peers.at(there); !lose) {
    own.safe.seen[there] = peer.seen;
    own.safe.instances[there] = {peer.instance};
  }
  own.life.reset();
  own.off = silently;
  if (auto& left = node_at(world_, other(node)).life) left->channel.is_alone();
}

// --- Connections

void Making::arrive(unsigned node) {
  SessionLife& own = life(node);
  const Node& there = node_at(world_, other(node));
  own.dial = there.life ? DialState::connected : DialState::refused;
  if (!there.life) return;
  Link link;
  link.dialler.node = static_cast<std::uint8_t>(node);
  link.dialler.instance = own.instance;
  link.acceptor.node = static_cast<std::uint8_t>(other(node));
  link.acceptor.instance = there.life->instance;
  world_.links.push_back(std::move(link));
}

void Making::tell(unsigned node) {
  SessionLife& own = life(node);
  const bool connected = own.dial == DialState::connected;
  own.dial.reset();
  const NodeId there = id_of(other(node));
  if (!connected) return give(node, host::DialFailed{there, host::DialEnd::refused});
  for (std::size_t link = world_.links.size(); link-- > 0;) {
    Side& mine = world_.links[link].dialler;
    if (!is_mine(mine, node) || mine.number.value != 0) continue;
    if (!mine.coming.empty()) {  // it has ended already
      close(link, node);
      return give(node, host::DialFailed{there, host::DialEnd::reset});
    }
    mine.number = host::ConnectionId{++own.connections};
    return give(node, host::Dialled{there, mine.number});
  }
}

void Making::perform(unsigned node, const host::GiveUp&) {
  SessionLife& own = life(node);
  const bool connected = own.dial == DialState::connected;
  own.dial.reset();
  for (std::size_t link = 0; connected && link < world_.links.size(); ++link) {
    const Side& mine = world_.links[link].dialler;
    if (is_mine(mine, node) && mine.number.value == 0) close(link, node);
  }
}

// The Hello arrives again on a new connection, which has no other end.
void Making::come_again(std::size_t link, unsigned node) {
  const Side mine = *ends(link, node).first;
  const std::uint64_t instance = ends(link, node).second->instance;
  Link again;
  again.dialler.node = static_cast<std::uint8_t>(other(node));
  again.dialler.instance = instance;
  again.dialler.open = false;
  again.acceptor.node = static_cast<std::uint8_t>(node);
  again.acceptor.instance = mine.instance;
  again.acceptor.coming = {mine.coming.front(), Gone{}};
  world_.links.push_back(std::move(again));
}

void Making::accept(std::size_t link, unsigned node) {
  Side& mine = world_.links[link].acceptor;
  mine.number = host::ConnectionId{++life(node).connections};
  give(node, host::Accepted{mine.number, {}});
}

void Making::read(std::size_t link, unsigned node) {
  if (ends(link, node).first->number.value == 0) accept(link, node);
  const auto [mine, theirs] = ends(link, node);
  const Parcel parcel = std::move(mine->coming.front());
  mine->coming.erase(mine->coming.begin());
  const host::ConnectionId number = mine->number;
  if (const auto* frame = std::get_if<host::Frame>(&parcel)) {
    read_from_ = theirs->instance;
    return give(node, host::Came{number, *frame, 1});
  }
  close(link, node);
  give(node, host::Closed{number, host::ConnectionEnd::finished, {}});
}

void Making::close(std::size_t link, unsigned node) {
  const auto [mine, theirs] = ends(link, node);
  mine->open = false;
  mine->coming.clear();
  if (theirs->open) theirs->coming.emplace_back(Gone{});
}

void Making::perform(unsigned node, const host::Write& write) {
  const std::size_t link = link_of(node, write.connection);
  if (link == world_.links.size()) return note("a frame is written to a closed connection");
  if (Side& theirs = *ends(link, node).second; theirs.open) theirs.coming.emplace_back(write.frame);
}

void Making::perform(unsigned node, const host::Close& closing) {
  const std::size_t link = link_of(node, closing.connection);
  if (link == world_.links.size()) return;
  if (was_connected_ == closing.connection && stands(link, node))
    note("a connection that carries the session at both ends is closed");
  const auto [mine, theirs] = ends(link, node);
  if (was_with_ == theirs->instance && holds_letter(*mine)) closed_unread_ = true;
  close(link, node);
}

// True if the connection also carries the session at the other end, and has not broken.
bool Making::stands(std::size_t link, unsigned node) {
  const auto [mine, theirs] = ends(link, node);
  const auto& there = node_at(world_, other(node)).life;
  if (!is_mine(*theirs, other(node)) || !works(there) || !works(node_at(world_, node).life))
    return false;
  const auto* connected =
      std::get_if<host::Connected>(&there->sessions.peers.begin()->second.touch);
  return connected && connected->connection == theirs->number && !has_ended(*mine) &&
         !has_ended(*theirs);
}

void Making::perform(unsigned node, const host::Drain& drain) {
  for (std::size_t link = 0; link < world_.links.size(); ++link) {
    const auto is_read = [&] {
      const Side& mine = *ends(link, node).first;
      if (!is_mine(mine, node) || mine.coming.empty()) return false;
      const bool was_dialled = &mine == &world_.links[link].acceptor;
      if (mine.number.value == 0) return drain.listener && was_dialled;
      return std::find(drain.connections.begin(), drain.connections.end(), mine.number) !=
             drain.connections.end();
    };
    if (!is_read()) continue;
    world_.drained = true;
    if (!world_.drain_finds) continue;
    read(link, node);
    const auto may_go_on = [&] {
      const Side& mine = *ends(link, node).first;
      return is_mine(mine, node) && !mine.coming.empty();
    };
    while (may_go_on()) read(link, node);
  }
  give(node, host::Drained{});
}

// --- Letters

void Making::send(unsigned node, CallNumber call, Message message, std::optional<Duration> bound) {
  give(node, host::SendLetter{{id_of(node), life(node).incarnation, id_of(other(node)), call,
                               std::move(message)},
                              bound,
                              1});
}

void Making::call(unsigned node, bool to_life) {
  SessionLife& own = life(node);
  const CallNumber number{++own.calls};
  const std::uint64_t letter = ++own.channel.letters;
  std::optional<Incarnation> named;
  if (to_life) named = own.sessions.peers.at(id_of(other(node))).session->life;
  const bool is_up = node_at(world_, other(node)).life.has_value();
  own.channel.called(number, letter, named, is_up);
  send(node, number, named ? call_to_life(id_of(node), letter, *named) : call_to_node(letter), T);
}

void Making::answer(unsigned node, std::size_t which) {
  SessionLife& own = life(node);
  const Owed owed = own.owed[which];
  own.owed.erase(own.owed.begin() + static_cast<std::ptrdiff_t>(which));
  const std::uint64_t letter = ++own.channel.letters;
  const auto& there = node_at(world_, other(node)).life;
  if (there && there->instance == owed.instance && there->channel.awaits(owed.call))
    own.channel.answering.push_back({letter, owed.instance, owed.call});
  send(node, owed.call, answer_to(letter, owed.caller), std::nullopt);
}

void Making::perform(unsigned node, const host::LetterCame& came) {
  SessionLife& own = life(node);
  auto& there = node_at(world_, other(node)).life;
  Channel* const sender = there && there->instance == read_from_ ? &there->channel : nullptr;
  note(own.channel.on_letter(came, read_from_, config_of(node).self, sender));
  if (is_answer(came.letter)) return;
  // Forgets the calls of the former life, as `step` does when it hears of a newer life
  // (owe_nothing).
  const Incarnation caller = came.letter.incarnation;
  std::erase_if(own.owed, [&](const Owed& one) { return one.caller < caller; });
  own.owed.push_back({caller, read_from_, came.letter.call});
}

// Everything that has arrived must be read before a call is unanswered or a life is over.
void Making::perform(unsigned node, const host::CallUnanswered& call) {
  auto& there = node_at(world_, other(node)).life;
  if (world_.drain_finds && call.call == is_due_ && has_answer_to_read(world_, node, call.call))
    note("a call is reported unanswered, although its answer has come");
  if (world_.drain_finds && call.call != is_due_ && works(there) &&
      life(node).channel.calls_the_node(call.call) &&
      has_hello_to_read(world_, node, there->instance))
    note("a call is reported unanswered, although the Hello of the called node has come");
  if (there) there->channel.awaited_no_more(life(node).instance, call.call);
  note(life(node).channel.unanswered(
      call.call, call.call == is_due_,
      works(there) ? std::optional(there->incarnation) : std::nullopt));
}

void Making::perform(unsigned node, const host::LifeOver& over) {
  const auto& there = node_at(world_, other(node)).life;
  if (world_.drain_finds && (closed_unread_ || has_letter_to_read(world_, node, was_with_)))
    note("a life is reported as ended while a letter from it is still unread");
  note(life(node).channel.life_over(over.life, was_with_, works(there) ? there->instance : 0));
}

// --- Deadlines

void Making::come_due(unsigned node, std::size_t which) {
  const Deadline due = deadlines(life(node).sessions)[which];
  *due.at = present;
  is_due_ = due.call;
  give(node, host::Due{});
}

// Shows each deadline, and the call to which it belongs.
template <class Sessions, class Show>
void for_each_deadline(Sessions& sessions, const Show& show) {
  for (auto& [node, peer] : sessions.peers) {
    if (auto* waiting = std::get_if<host::Waiting>(&peer.touch)) show(waiting->until, {});
    if (auto* greeting = std::get_if<host::Greeting>(&peer.touch)) show(greeting->until, {});
  }
  for (auto& [number, call] : sessions.calls)
    if (call.deadline) show(*call.deadline, number);
  for (auto& unknown_peer : sessions.unknown_peers) show(unknown_peer.until, {});
  for (auto& [node, peer] : sessions.peers)
    if (peer.looked_until) show(*peer.looked_until, {});
}

}  // namespace

std::vector<Deadline> deadlines(host::Sessions& sessions) {
  std::vector<Deadline> found;
  for_each_deadline(sessions, [&](host::Time& at, std::optional<CallNumber> call) {
    found.push_back({&at, call});
  });
  return found;
}

std::size_t count_deadlines(const host::Sessions& sessions) {
  std::size_t count = 0;
  for_each_deadline(sessions,
                    [&](const host::Time&, const std::optional<CallNumber>&) { ++count; });
  return count;
}

SessionWorld made(SessionWorld world, const Move& move, const SessionBounds& bounds) {
  world.drain_finds = move.drain_finds;
  world.drained = false;
  Making(world, bounds).make(move);
  return world;
}

}  // namespace muster::lab::sessions
