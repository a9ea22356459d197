#include "attacker.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace muster::test {

using namespace std::chrono_literals;
using net::Hello;
using net::Refusal;
using net::RefusalReason;
using net::Role;

namespace {

constexpr std::size_t most_held = 200, most_heard = 200;
constexpr Duration soon = 20ms;        // a node that has not answered by then may never answer
constexpr Duration at_length = 300ms;  // a node dials with delays of up to 1 s
constexpr Duration surely = 2s;  // by then a node has surely answered or closed the connection
constexpr std::size_t kind_at = 9;

}  // namespace

Attacker::Attacker(std::uint64_t seed) : random_(seed), frames_(golden_frames()) {}

Tally Attacker::attack(Attack how, const Scene& scene) {
  scene_ = scene;
  tally_ = {.bursts = 1};
  // A node believes only lives close to one that it knows. So a session comes first.
  for (const auto& [known, life] : scene.lives)
    if (!said_.contains(known)) in_session(known);
  const NodeId node = one_of(scene.lives).first;
  using enum Attack;
  const auto is_one_of = [how](std::initializer_list<Attack> kinds) {
    return std::find(kinds.begin(), kinds.end(), how) != kinds.end();
  };
  if (is_one_of(
          {noise, before_hello, as_observer, in_session, lying_tags, letters_of_a_node, replay}))
    mutate(how, node);
  else if (how == as_asker)
    ask(node);
  else if (is_one_of({in_greeting, crossing}))
    answer_dial(how, node);
  else if (is_one_of({question_flood, byte_by_byte, silent, half_closed, reset}))
    crowd(how, node);
  else
    forge(how, node);
  return tally_;
}

// --- Bytes

std::uint64_t Attacker::any_number() {
  const std::array<std::uint64_t, 12> numbers{0,
                                              1,
                                              2,
                                              3,
                                              any(100),
                                              std::uint64_t{1} << 20,
                                              std::uint64_t{1} << 32,
                                              random_(),
                                              highest_number - 1,
                                              highest_number,
                                              highest_number + 1,
                                              ~std::uint64_t{0}};
  return one_of(numbers);
}

std::string Attacker::noise(std::size_t most) {
  std::string bytes(any(most) + 1, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random_());
  return bytes;
}

// Damages a frame so that it is invalid or incomplete.
std::string Attacker::broken(std::string frame) {
  switch (any(5)) {
    case 0:
      // Changes a bit of the checksum itself, or of the bytes that it covers.
      frame[4 + any(any(2) == 0 ? 4 : frame.size() - 4)] ^= static_cast<char>(1 << any(8));
      return frame;
    case 1:
      for (std::size_t i = 0; i < 4; ++i) frame[i] = static_cast<char>(random_());
      return frame;
    case 2:
      frame.resize(any(frame.size()));
      return frame;
    case 3:
      frame[8] = static_cast<char>(frame[8] + 1 + static_cast<char>(any(200)));
      return repaired(std::move(frame));
    default:
      return noise(2000);
  }
}

// Changes the body and corrects the checksum, which makes another valid frame or an invalid one.
std::string Attacker::mutated(std::string frame) {
  constexpr std::size_t body = kind_at + 1;
  const std::size_t at = body + any(std::max(frame.size(), body + 1) - body);
  switch (any(7)) {
    case 0:
      return broken(std::move(frame));
    case 1:
      if (at < frame.size()) frame[at] ^= static_cast<char>(1 << any(8));
      break;
    case 2:
      for (std::size_t i = at; i < std::min(at + 8, frame.size()); ++i)
        frame[i] = static_cast<char>(any(2) == 0 ? random_() : 0xFF);
      break;
    case 3:
      frame.resize(std::min(at, frame.size()));
      break;
    case 4:
      frame += noise(any(2) == 0 ? 16 : 60'000);
      break;
    case 5:  // the header of one kind and the body of another
      frame[kind_at] = static_cast<char>(any(12));
      break;
    default:
      frame.insert(std::min(at, frame.size()), one_of(frames_).bytes.substr(body));
  }
  return repaired(std::move(frame));
}

net::Frame Attacker::any_frame(NodeId to, bool letters) {
  net::Frame frame = one_of(frames_).frame;
  auto* const carried = std::get_if<net::Carried>(&frame);
  if (carried == nullptr) return frame;
  if (!letters) return net::Acknowledged{any_number()};
  carried->number = any(2) == 0 ? ++hellos_ : any_number();
  carried->acknowledged = any(4) == 0 ? any_number() : 0;
  carried->letter.from = any(10) == 0 ? to : scene_.down;
  carried->letter.to = to;
  carried->letter.incarnation = said_[to].first;
  carried->letter.call = CallNumber{any(2) == 0 ? hellos_ : any_number()};
  if (any(4) != 0)
    std::visit([&](auto& message) { believable(message, to); }, carried->letter.message);
  return frame;
}

// Fills in the fields as if the node that is down were a candidate.
template <class Message>
void Attacker::believable(Message& message, NodeId to) {
  if constexpr (requires { message.election; })
    message.election = {scene_.down, said_[to].first, hellos_};
  if constexpr (requires { message.group; })
    message.group = GroupNumber{scene_.group.counter + 1, scene_.down};
  if constexpr (requires { message.receiver; }) message.receiver = scene_.lives.at(to);
}

// If a node believed such a letter, it would ignore the true ones, which are of an earlier life.
net::Frame Attacker::lying(NodeId to) {
  const NodeId another = one_of(scene_.lives).first;
  const ElectionId far{any(2) == 0 ? scene_.down : another, Incarnation{highest_number - 1}, 1};
  const GroupNumber of_another{scene_.group.counter + 1, another};
  const std::array<Message, 6> lies{Halt{far},
                                    AreYouNormal{of_another},
                                    NewCoordinator{far, scene_.lives.at(to), of_another},
                                    textbook::Coordinator{of_another, {}},
                                    invitation::Accept{{1, scene_.down}, {}, {}},
                                    invitation::Ready{of_another, std::nullopt, {}}};
  const CallNumber call{++hellos_};
  return net::Carried{hellos_, 0, {scene_.down, said_[to].first, to, call, one_of(lies)}};
}

// --- Hellos

Hello Attacker::hello(NodeId from, NodeId to, Role role) {
  Hello made;
  made.role = role;
  made.cluster = scene_.cluster;
  made.from = role == Role::observer ? NodeId{} : from;
  made.to = role == Role::observer ? NodeId{} : to;
  made.incarnation = Incarnation{1};
  made.instance = random_() | 1;
  made.number = ++hellos_;
  made.session = 1;
  return made;
}

// A Hello of the node that is down. Its life is the one that the other side knows, or the next one.
Hello Attacker::own(NodeId to, bool of_next_life) {
  auto& [life, instance] = said_[to];
  if (of_next_life || instance == 0) {
    ++life.value;
    instance = random_() | 1;
  }
  Hello made = hello(scene_.down, to);
  made.incarnation = life;
  made.instance = instance;
  return made;
}

Hello Attacker::forged(Attack how, NodeId to) {
  const auto lives_on = [this](NodeId node) {
    return Incarnation{scene_.lives.at(node).value + 1 + any(2) * any(1 << 20)};
  };
  Hello made = hello(scene_.down, to);
  switch (how) {
    case Attack::namesake:
      made.from = to;
      made.incarnation = any(2) == 0 ? lives_on(to) : Incarnation{any_number()};
      if (any(4) == 0) made.cluster = "name=another\n";
      break;
    case Attack::foreign_cluster:
      made.from = any(4) == 0 ? NodeId{static_cast<std::uint32_t>(any_number())}
                              : one_of(scene_.ports).first;
      made.incarnation = Incarnation{any_number()};
      if (any(2) == 0)
        made.cluster[any(made.cluster.size())] ^= 1;
      else
        made.cluster = noise(any(2) == 0 ? 200 : 60'000);
      break;
    case Attack::tiny_keys:
      made.from = one_of(scene_.ports).first;
      made.cluster.clear();
      for (std::size_t i = 0; made.cluster.size() < 65'000; ++i)
        made.cluster += std::to_string(i) + "=\n";
      break;
    case Attack::other_version:
      made.oldest_version = static_cast<std::uint8_t>(any_number());
      made.newest_version = static_cast<std::uint8_t>(any_number());
      if (any(2) == 0) made.role = static_cast<Role>(any(256));
      break;
    case Attack::elsewhere:
      if (any(2) == 0)
        made.to = NodeId{static_cast<std::uint32_t>(any_number())};
      else
        made.from = NodeId{static_cast<std::uint32_t>(9 + any(3) * any_number())};
      break;
    case Attack::later_life: {
      do made.from = one_of(scene_.lives).first;
      while (made.from == to);
      made.incarnation = lives_on(made.from);
      break;
    }
    default:
      made.incarnation = Incarnation{any_number()};
      made.peer_session = any(2) * any_number();
      made.received = any(2) * any_number();
      made.session = any(4) == 0 ? any_number() : 1;
  }
  return made;
}

// --- Connections

Wire Attacker::dial(NodeId node) {
  ++tally_.connections;
  return Wire(scene_.ports.at(node));
}

void Attacker::say_hello(Wire& wire, const Hello& hello) {
  ++tally_.hellos;
  wire.say(hello);
}

void Attacker::say(Wire& wire, std::string_view bytes) {
  ++tally_.frames;
  wire.say(bytes);
}

std::optional<net::Frame> Attacker::hear(Wire& wire, Duration bound) {
  auto frame = wire.hear(bound);
  if (!frame) return frame;
  heard_.push_back(net::encode_frame(*frame));
  if (heard_.size() > most_heard) heard_.pop_front();
  if (std::holds_alternative<Hello>(*frame)) ++tally_.greeted;
  if (std::holds_alternative<Refusal>(*frame)) ++tally_.refused;
  return frame;
}

Wire Attacker::in_session(NodeId node) {
  Wire wire = dial(node);
  say_hello(wire, own(node, any(2) == 0));
  hear(wire, surely);
  return wire;
}

void Attacker::end(Wire wire) {
  switch (any(4)) {
    case 0:
      return wire.reset();
    case 1:
      wire.finish();
      [[fallthrough]];
    case 2:
      held_.push_back(std::move(wire));
      if (held_.size() > most_held) held_.pop_front();
      return;
    default:
      return;
  }
}

// --- Bursts

void Attacker::mutate(Attack how, NodeId node) {
  for (std::uint64_t times = 1 + any(20); times > 0; --times) {
    const bool letters = how == Attack::letters_of_a_node;
    const bool lies = how == Attack::lying_tags;
    Wire wire = letters || lies || how == Attack::in_session ? in_session(node) : dial(node);
    if (how == Attack::as_observer) {
      say_hello(wire, hello(NodeId{}, NodeId{}, Role::observer));
      hear(wire, surely);
    }
    for (std::uint64_t frames = 1 + any(letters ? 10 : 3); frames > 0; --frames) {
      const std::string whole = net::encode_frame(any_frame(node, true));
      switch (how) {
        case Attack::noise:
          say(wire, noise(10'000));
          break;
        case Attack::replay:
          for (std::uint64_t more = heard_.empty() ? 0 : any(3) + 1; more > 0; --more)
            say(wire, one_of(heard_));
          break;
        case Attack::in_session:
          // The frame is broken or misplaced, since a node would believe a correct letter.
          say(wire, any(2) == 0 ? broken(whole) : net::encode_frame(any_frame(node, false)));
          break;
        case Attack::before_hello:
          say(wire, mutated(any(2) == 0 ? whole : net::encode_frame(hello(scene_.down, node))));
          frames = 1;
          break;
        case Attack::lying_tags:
          say(wire, net::encode_frame(lying(node)));
          break;
        default:
          if (letters && any(20) == 0) say(wire, net::encode_frame(lying(node)));
          say(wire, any(3) == 0 ? whole : mutated(whole));
      }
    }
    if (any(2) == 0) hear(wire, soon);
    end(std::move(wire));
  }
}

void Attacker::forge(Attack how, NodeId node) {
  for (std::uint64_t times = 1 + any(10); times > 0; --times) {
    Wire wire = dial(node);
    const Hello said = forged(how, node);
    say_hello(wire, said);
    // A claim to be a next life is checked at the real address, and gets no answer here.
    const auto answered = hear(wire, how == Attack::later_life ? soon : surely);
    const bool taken = answered && std::holds_alternative<Hello>(*answered);
    if (taken && said.from == scene_.down) said_[node] = {said.incarnation, said.instance};
    if (any(4) == 0) hear(wire, soon);  // a Refusal may follow
    end(std::move(wire));
  }
}

void Attacker::ask(NodeId node) {
  for (std::uint64_t times = 1 + any(6); times > 0; --times) {
    Wire wire = dial(node);
    const NodeId from = any(2) == 0 ? scene_.group.coordinator : one_of(scene_.ports).first;
    say_hello(wire, hello(from, node, Role::asker));
    hear(wire, surely);
    if (any(4) != 0) {
      const GroupNumber group = any(4) == 0 ? GroupNumber{any_number(), from} : scene_.group;
      say(wire, net::encode_frame(net::Asks{group, any(2) == 0}));
    }
    for (std::uint64_t pieces = any(40); pieces > 0; --pieces)
      say(wire, net::encode_frame(net::Piece{std::string(any(60'000), 'x'), any(20) == 0}));
    if (any(2) == 0) say(wire, mutated(net::encode_frame(any_frame(node, true))));
    if (any(2) == 0) hear(wire, soon);
    end(std::move(wire));
  }
}

// A Hello in the name of a node, but with another cluster's text, makes the other side dial that
// node's address. The attacker listens there.
void Attacker::answer_dial(Attack how, NodeId node) {
  Door door(scene_.ports.at(scene_.down));
  for (std::uint64_t times = 1 + any(3); times > 0; --times) {
    Wire provoking = dial(node);
    Hello other = hello(scene_.down, node);
    other.cluster = "name=another\n";
    say_hello(provoking, other);
    hear(provoking, surely);
    Wire dialled = door.next(at_length);
    if (!dialled.is_open()) continue;
    ++tally_.connections;
    const auto first = hear(dialled, surely);
    const auto* hello = first ? std::get_if<Hello>(&*first) : nullptr;
    if (hello == nullptr) continue;
    if (how == Attack::crossing) end(in_session(hello->from));
    for (std::uint64_t frames = any(3) + 1; frames > 0; --frames) answer(dialled, hello->from);
    if (any(2) == 0) hear(dialled, soon);
    end(std::move(dialled));
  }
}

// The attacker sends `outlived` from one address only. Two addresses that send it end a node, by
// design (LifeClaims): without authentication no node can tell an attacker from nodes.
void Attacker::answer(Wire& wire, NodeId node) {
  switch (any(5)) {
    case 0: {
      Hello mine = own(node, any(2) == 0);
      mine.session = any(2);
      return say_hello(wire, mine);
    }
    case 1: {
      Hello mine =
          forged(one_of(std::array{Attack::namesake, Attack::foreign_cluster, Attack::tiny_keys,
                                   Attack::other_version, Attack::elsewhere}),
                 node);
      return say_hello(wire, mine);
    }
    case 2: {
      const auto reason = static_cast<RefusalReason>(any(8));
      return say(wire, net::encode_frame(Refusal{reason, noise(500), any_number()}));
    }
    case 3:
      return say(wire, broken(net::encode_frame(any_frame(node, true))));
    default:
      return say(wire, net::encode_frame(any_frame(node, false)));
  }
}

void Attacker::crowd(Attack how, NodeId node) {
  std::vector<Wire> wires;
  for (std::uint64_t count = 1 + any(how == Attack::question_flood ? 17 : 150); count > 0; --count)
    wires.push_back(dial(node));
  std::shuffle(wires.begin(), wires.end(), random_);
  const std::string whole =
      net::encode_frame(any(2) == 0 ? hello(scene_.down, node) : hello({}, {}, Role::observer));
  if (how == Attack::question_flood) {
    std::string questions;
    while (questions.size() < 250'000) questions += net::encode_frame(net::StatusQuestion{});
    for (Wire& wire : wires) say_hello(wire, hello({}, {}, Role::observer));
    for (Wire& wire : wires) say(wire, questions);
  }
  if (how == Attack::byte_by_byte)
    for (std::size_t at = 0; at < std::min<std::size_t>(whole.size(), 1 + any(100)); ++at)
      for (Wire& wire : wires) wire.say(std::string_view(whole).substr(at, 1));
  for (Wire& wire : wires) {
    if (how == Attack::half_closed || how == Attack::reset)
      wire.say(std::string_view(whole).substr(0, any(3) * any(whole.size())));
    if (how == Attack::half_closed) wire.finish();
    if (how == Attack::reset) wire.reset();
    if (how == Attack::silent)
      held_.push_back(std::move(wire));
    else
      end(std::move(wire));
  }
  while (held_.size() > most_held) held_.pop_front();
}

}  // namespace muster::test
