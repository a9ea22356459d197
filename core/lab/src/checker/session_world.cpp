#include "session_world.hpp"

#include <algorithm>

namespace muster::lab::sessions {

namespace {

using namespace std::chrono_literals;

constexpr Duration T = 800ms;

host::SessionConfig config_of(unsigned node, Incarnation incarnation) {
  return {{id_of(node), incarnation, instance_of(node, incarnation), {}},
          {{id_of(other(node)), {}}},
          T,
          {}};
}

/// The letters of a life are numbered, each kind where it has room for it.
struct Tag {
  std::uint64_t letter{};
  Incarnation caller;  ///< of an answer
};

Message call_to_node(std::uint64_t letter) {
  return Halt{{NodeId{}, {}, letter}};
}
Message call_to_life(std::uint64_t letter, Incarnation life) {
  return NewCoordinator{{}, life, {letter, NodeId{}}};
}
Message answer_with(std::uint64_t letter, Incarnation caller) {
  return Answer{Halted{letter << 32 | caller.value}};
}

Tag tag_of(const Message& message) {
  if (const auto* halt = std::get_if<Halt>(&message)) return {halt->election.number, {}};
  if (const auto* call = std::get_if<NewCoordinator>(&message)) return {call->group.counter, {}};
  const std::uint64_t both = std::get<Halted>(std::get<Answer>(message).result).counter;
  return {both >> 32, Incarnation{both & 0xFFFFFFFF}};
}

/// Makes one move.
class Making {
 public:
  explicit Making(World& world) : world_(world) {}

  void make(const Move& move);

 private:
  using Ends = std::pair<Side*, Side*>;

  Life& life(unsigned node) { return *node_at(world_, node).life; }
  /// The sides of a link, that of the node first.
  Ends ends(std::size_t link, unsigned node) {
    Link& at = world_.links[link];
    if (at.dialler.node == node) return {&at.dialler, &at.acceptor};
    return {&at.acceptor, &at.dialler};
  }
  [[nodiscard]] bool is_mine(const Side& side, unsigned node) {
    const auto& life = node_at(world_, node).life;
    return side.open && side.node == node && life && side.life == life->incarnation;
  }
  /// The link of that connection of the node's; their number where there is none.
  std::size_t link_of(unsigned node, host::ConnectionId number) {
    std::size_t at = 0;
    while (at < world_.links.size()) {
      const auto [mine, theirs] = ends(at, node);
      if (is_mine(*mine, node) && mine->number == number) break;
      ++at;
    }
    return at;
  }
  void violated(const std::string& what) {
    if (world_.violated.empty()) world_.violated = what;
  }

  void give(unsigned node, host::SessionInput input);
  void begin(unsigned node);
  void end(unsigned node, bool silently, bool lose);
  void arrive(unsigned node);
  void tell(unsigned node);
  void accept(std::size_t link, unsigned node);
  void read(std::size_t link, unsigned node);
  void close(std::size_t link, unsigned node);
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

  World& world_;
};

void Making::make(const Move& move) {
  switch (move.what) {
    case Happening::begins:
      return begin(move.node);
    case Happening::fails:
      return end(move.node, false, false);
    case Happening::fails_and_loses:
      return end(move.node, false, true);
    case Happening::machine_stops:
      ++world_.silences;
      return end(move.node, true, true);
    case Happening::connection_reset: {
      ++world_.resets;
      Link& link = world_.links[move.which];
      for (Side* side : {&link.dialler, &link.acceptor}) side->coming = {Gone{}};
      return;
    }
    case Happening::connection_noticed:
      ends(move.which, move.node).first->coming.emplace_back(Gone{});
      return;
    case Happening::dial_arrives:
      return arrive(move.node);
    case Happening::dial_is_silent:
      life(move.node).dial.reset();
      return give(move.node, host::DialFailed{id_of(other(move.node)), host::DialEnd::silence});
    case Happening::dial_is_told:
      return tell(move.node);
    case Happening::reads:
      return read(move.which, move.node);
    case Happening::calls_the_node:
    case Happening::calls_the_life:
      return call(move.node, move.what == Happening::calls_the_life);
    case Happening::answers:
      return answer(move.node, move.which);
    case Happening::deadline:
      return come_due(move.node, move.which);
  }
}

void Making::give(unsigned node, host::SessionInput input) {
  Life& own = life(node);
  host::SessionOutputs outputs;
  own.sessions.take(config_of(node, own.incarnation), present, std::move(input), outputs);
  for (const host::SessionOutput& output : outputs)
    std::visit([&](const auto& one) { perform(node, one); }, output);
}

// --- Lives

void Making::begin(unsigned node) {
  Node& own = node_at(world_, node);
  own.off = false;
  own.life.emplace();
  own.life->incarnation = Incarnation{++own.lives};
  own.life->sessions = host::Sessions::begin(config_of(node, own.life->incarnation), {});
  give(node, host::Greet{});
}

// The system closes what a process had open; a machine that stops says nothing.
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
  own.life.reset();
  own.off = silently;
}

// --- Connections

void Making::arrive(unsigned node) {
  Life& own = life(node);
  const Node& there = node_at(world_, other(node));
  own.dial = there.life ? DialState::connected : DialState::refused;
  if (!there.life) return;
  Link link;
  link.dialler.node = static_cast<std::uint8_t>(node);
  link.dialler.life = own.incarnation;
  link.acceptor.node = static_cast<std::uint8_t>(other(node));
  link.acceptor.life = there.life->incarnation;
  world_.links.push_back(std::move(link));
}

void Making::tell(unsigned node) {
  Life& own = life(node);
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
  Life& own = life(node);
  const bool connected = own.dial == DialState::connected;
  own.dial.reset();
  for (std::size_t link = 0; connected && link < world_.links.size(); ++link) {
    const Side& mine = world_.links[link].dialler;
    if (is_mine(mine, node) && mine.number.value == 0) close(link, node);
  }
}

void Making::accept(std::size_t link, unsigned node) {
  Side& mine = world_.links[link].acceptor;
  mine.number = host::ConnectionId{++life(node).connections};
  give(node, host::Accepted{mine.number});
}

void Making::read(std::size_t link, unsigned node) {
  if (ends(link, node).first->number.value == 0) accept(link, node);
  Side& mine = *ends(link, node).first;
  const Parcel parcel = std::move(mine.coming.front());
  mine.coming.erase(mine.coming.begin());
  if (const auto* frame = std::get_if<host::Frame>(&parcel))
    return give(node, host::Came{mine.number, *frame, 1});
  close(link, node);
  give(node, host::Closed{mine.number, host::ConnectionEnd::finished, {}});
}

void Making::close(std::size_t link, unsigned node) {
  const auto [mine, theirs] = ends(link, node);
  mine->open = false;
  mine->coming.clear();
  if (theirs->open) theirs->coming.emplace_back(Gone{});
}

void Making::perform(unsigned node, const host::Write& write) {
  const std::size_t link = link_of(node, write.connection);
  if (link == world_.links.size()) return violated("something is written to what is closed");
  if (Side& theirs = *ends(link, node).second; theirs.open) theirs.coming.emplace_back(write.frame);
}

void Making::perform(unsigned node, const host::Close& closing) {
  const std::size_t link = link_of(node, closing.connection);
  if (link < world_.links.size()) close(link, node);
}

void Making::perform(unsigned node, const host::Drain& drain) {
  const auto may_be_read = [&](const Side& side, bool is_listed) {
    return is_mine(side, node) && (is_listed || (drain.listener && side.number.value == 0));
  };
  for (std::size_t link = 0; link < world_.links.size(); ++link) {
    const auto [mine, theirs] = ends(link, node);
    const bool is_listed = std::find(drain.connections.begin(), drain.connections.end(),
                                     mine->number) != drain.connections.end();
    if (!may_be_read(*mine, is_listed)) continue;
    if (mine == &world_.links[link].dialler && mine->number.value == 0) continue;
    if (mine->coming.empty()) continue;
    world_.drained = true;
    if (!world_.drain_finds) continue;
    while (is_mine(*ends(link, node).first, node) && !ends(link, node).first->coming.empty())
      read(link, node);
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
  Life& own = life(node);
  const CallNumber number{++own.calls_made};
  const std::uint64_t letter = ++own.sent;
  if (!to_life) {
    own.awaited.emplace(number, Awaited{});
    return send(node, number, call_to_node(letter), T);
  }
  const Incarnation to = own.sessions.peers.at(id_of(other(node))).session->life;
  own.awaited.emplace(number, Awaited{to});
  send(node, number, call_to_life(letter, to), T);
}

void Making::answer(unsigned node, std::size_t which) {
  Life& own = life(node);
  const Owed owed = own.owed[which];
  own.owed.erase(own.owed.begin() + static_cast<std::ptrdiff_t>(which));
  send(node, owed.call, answer_with(++own.sent, owed.caller), std::nullopt);
}

void Making::perform(unsigned node, const host::LetterCame& came) {
  Life& own = life(node);
  const Letter& letter = came.letter;
  const Tag tag = tag_of(letter.message);
  if (letter.incarnation <= own.over) violated("a letter comes of a life that was told to be over");
  std::uint64_t& last = own.received[letter.incarnation];
  if (tag.letter <= last) violated("a letter comes twice, or after one that was sent later");
  last = tag.letter;
  if (!is_answer(letter)) {
    // What `step` does when it hears of a newer life (owe_nothing).
    std::erase_if(own.owed, [&](const Owed& one) { return one.caller < letter.incarnation; });
    own.owed.push_back({letter.incarnation, letter.call});
    return;
  }
  if (tag.caller != own.incarnation) violated("an answer comes to a life that has not called");
  const auto awaited = own.awaited.find(letter.call);
  if (awaited == own.awaited.end()) return violated("a call has two ends: an answer comes");
  if (awaited->second.life.value_or(letter.incarnation) != letter.incarnation)
    violated("another life answers than the one that was called");
  own.awaited.erase(awaited);
}

void Making::perform(unsigned node, const host::CallUnanswered& call) {
  if (life(node).awaited.erase(call.call) == 0)
    violated("a call has two ends: it is told to be unanswered");
}

void Making::perform(unsigned node, const host::LifeOver& over) {
  Life& own = life(node);
  const auto& there = node_at(world_, other(node)).life;
  if (there && there->incarnation == over.life) violated("a life that works is told to be over");
  if (over.life <= own.over) violated("a life is told to be over twice");
  own.over = over.life;
}

// --- Deadlines

void Making::come_due(unsigned node, std::size_t which) {
  *deadlines(life(node).sessions)[which] = present;
  give(node, host::Due{});
}

}  // namespace

std::vector<host::Time*> deadlines(host::Sessions& sessions) {
  std::vector<host::Time*> found;
  for (auto& [node, peer] : sessions.peers) {
    if (auto* waiting = std::get_if<host::Waiting>(&peer.touch)) found.push_back(&waiting->until);
    if (auto* greeting = std::get_if<host::Greeting>(&peer.touch))
      found.push_back(&greeting->until);
  }
  for (auto& [number, call] : sessions.calls)
    if (call.deadline) found.push_back(&*call.deadline);
  for (host::Stranger& stranger : sessions.strangers) found.push_back(&stranger.until);
  return found;
}

World made(World world, const Move& move) {
  world.drain_finds = move.drain_finds;
  world.drained = false;
  Making(world).make(move);
  return world;
}

}  // namespace muster::lab::sessions
