// The canonical form: two worlds that differ only in names, or in fields that decide nothing,
// become one.

#include "session_world.hpp"

#include <algorithm>

namespace muster::lab::sessions {

namespace {

/// Replaces the numbers that `visit` shows by their ranks; 0 stays 0. Returns the highest rank.
template <class Visit>
std::uint64_t rank(const Visit& visit) {
  thread_local std::vector<std::uint64_t> found;
  found.clear();
  visit([&](std::uint64_t& number) {
    if (number != 0 && std::find(found.begin(), found.end(), number) == found.end())
      found.push_back(number);
  });
  std::sort(found.begin(), found.end());
  if (found.empty() || found.back() == found.size()) return found.size();  // they are ranks already
  visit([&](std::uint64_t& number) {
    if (number == 0) return;
    const auto at = std::lower_bound(found.begin(), found.end(), number);
    number = static_cast<std::uint64_t>(at - found.begin()) + 1;
  });
  return found.size();
}

/// Shows the places in a world of all numbers that one node has given.
class Numbers {
 public:
  Numbers(SessionWorld& world, unsigned node)
      : world_(world),
        node_(node),
        own_(node_at(world, node)),
        there_(node_at(world, other(node))) {}

  void rank_all() {
    own_.lives = rank([&](const auto& show) { incarnations(show); });
    for (std::uint64_t life = 1; life <= own_.lives; ++life) rank_life(life);
  }

 private:
  void rank_life(std::uint64_t life) {
    SessionLife* const own =
        own_.life && own_.life->incarnation.value == life ? &*own_.life : nullptr;
    const auto highest = rank([&](const auto& show) { hellos(life, show); });
    const auto calls = rank([&](const auto& show) { call_numbers(own, life, show); });
    const auto letters = rank([&](const auto& show) { letter_places(own, life, show); });
    const auto session = rank([&](const auto& show) { session_numbers(own, life, show); });
    if (!own) return;
    own->sessions.hellos = highest;
    own->calls = calls;
    own->channel.letters = letters;
    if (auto& with = peer(*own).session) with->last_number = session;
    const bool is_ranked =
        std::all_of(own->sessions.calls.begin(), own->sessions.calls.end(),
                    [](const auto& call) { return call.first == call.second.letter.call; });
    if (is_ranked) return;
    host::Calls by_rank;
    while (!own->sessions.calls.empty()) {
      auto one = own->sessions.calls.extract(own->sessions.calls.begin());
      one.key() = one.mapped().letter.call;
      by_rank.insert(std::move(one));
    }
    own->sessions.calls = std::move(by_rank);
  }

  // --- Places

  host::Peer& peer(SessionLife& life) { return life.sessions.peers.begin()->second; }
  host::Peer* peer_there() { return there_.life ? &peer(*there_.life) : nullptr; }

  template <class Show>
  void frames_to(unsigned node, const Show& show) {
    for (Link& link : world_.links)
      for (Side* side : {&link.dialler, &link.acceptor})
        for (Parcel& parcel : side->coming)
          if (auto* frame = std::get_if<host::Frame>(&parcel); frame && side->node == node)
            show(*side, *frame);
  }
  template <class Show>
  void letters_to(unsigned node, const Show& show) {
    auto& sender = node_at(world_, other(node)).life;
    if (sender) {
      for (auto& [number, call] : sender->sessions.calls) show(call.letter);
      if (auto& session = peer(*sender).session)
        for (host::Queued& queued : session->queue)
          if (queued.answer) show(*queued.answer);
    }
    frames_to(node, [&](Side&, host::Frame& frame) {
      if (auto* carried = std::get_if<host::Carried>(&frame)) show(carried->letter);
    });
  }

  // --- Incarnations and their instances

  template <class Show>
  static void instance(std::uint64_t& whole, unsigned node, const Show& show) {
    if (whole == 0) return;
    Instance parts = read_instance(whole);
    show(parts.life);
    whole = instance_of(node, parts);
  }

  template <class Show>
  void incarnations(const Show& show) {
    const auto instance = [&](std::uint64_t& whole) { Numbers::instance(whole, node_, show); };
    if (own_.life) {
      show(own_.life->incarnation.value);
      instance(own_.life->instance);
    }
    for (Link& link : world_.links)
      for (Side* side : {&link.dialler, &link.acceptor})
        if (side->node == node_) instance(side->instance);
    for (auto& [of, life] : there_.safe.seen) show(life.value);
    for (auto& [of, lived] : there_.safe.instances) instance(lived.value);
    if (there_.life) at_the_other(*there_.life, show, instance);
    letters_to(other(node_), [&](Letter& letter) { show(letter.incarnation.value); });
    letters_to(node_, [&](Letter& letter) {
      if (auto* const life = places_in(letter.message).life) show(*life);
    });
    frames_to(node_, [&](Side&, host::Frame& frame) {
      if (auto* hello = std::get_if<host::Hello>(&frame)) instance(hello->peer_instance);
      if (auto* refusal = std::get_if<host::Refusal>(&frame)) show(refusal->figure);
    });
    frames_to(other(node_), [&](Side&, host::Frame& frame) {
      auto* const hello = std::get_if<host::Hello>(&frame);
      if (!hello) return;
      show(hello->incarnation.value);
      instance(hello->instance);
    });
  }

  template <class Show, class ShowInstance>
  void at_the_other(SessionLife& life, const Show& show, const ShowInstance& instance) {
    host::Peer& peer = this->peer(life);
    show(peer.seen.value);
    show(peer.over.value);
    instance(peer.instance);
    if (peer.session) {
      show(peer.session->life.value);
      instance(peer.session->instance);
    }
    for (auto& [number, call] : life.sessions.calls)
      if (call.life) show(call.life->value);
    for (Owed& owed : life.owed) {
      show(owed.caller.value);
      instance(owed.instance);
    }
    Channel& channel = life.channel;
    show(channel.over.value);
    show(channel.outlived.value);
    instance(channel.with);
    for (Awaited& call : channel.awaited) {
      if (call.life) show(call.life->value);
      instance(call.taken_by);
    }
    for (Answering& answer : channel.answering) instance(answer.caller);
  }

  // --- Numbers given by a life

  template <class Show>
  void hellos(std::uint64_t life, const Show& show) {
    host::Peer* const peer = peer_there();
    if (peer && read_instance(peer->instance).life == life) show(peer->last_hello);
    frames_to(other(node_), [&](Side&, host::Frame& frame) {
      auto* const hello = std::get_if<host::Hello>(&frame);
      if (hello && hello->incarnation.value == life) show(hello->number);
    });
  }

  template <class Show>
  void call_numbers(SessionLife* own, std::uint64_t life, const Show& show) {
    if (own) {
      for (Awaited& call : own->channel.awaited) show(call.call.value);
      if (auto& session = peer(*own).session)
        for (host::Queued& queued : session->queue)
          if (!queued.answer) show(queued.call.value);
    }
    letters_to(other(node_), [&](Letter& letter) {
      if (!is_answer(letter) && letter.incarnation.value == life) show(letter.call.value);
    });
    letters_to(node_, [&](Letter& letter) {
      if (is_answer(letter) && *places_in(letter.message).life == life) show(letter.call.value);
    });
    if (!there_.life) return;
    for (Owed& owed : there_.life->owed)
      if (owed.caller.value == life) show(owed.call.value);
    for (Answering& answer : there_.life->channel.answering)
      if (read_instance(answer.caller).life == life) show(answer.call.value);
    auto& session = peer_there()->session;
    if (!session || session->life.value != life) return;
    for (CallNumber& owed : session->owed) show(owed.value);
    for (host::Queued& queued : session->queue)
      if (queued.answer) show(queued.call.value);
  }

  template <class Show>
  void letter_places(SessionLife* own, std::uint64_t life, const Show& show) {
    if (own) {
      for (Awaited& call : own->channel.awaited) show(call.letter);
      for (Answering& answer : own->channel.answering) show(answer.letter);
    }
    letters_to(other(node_), [&](Letter& letter) {
      if (letter.incarnation.value == life) show(*places_in(letter.message).letter);
    });
    if (there_.life && read_instance(there_.life->channel.with).life == life)
      show(there_.life->channel.last);
  }

  template <class Show>
  void session_numbers(SessionLife* own, std::uint64_t life, const Show& show) {
    if (own) {
      if (auto& session = peer(*own).session) {
        show(session->highest_written);
        for (host::Queued& queued : session->queue) show(queued.number);
      }
    }
    if (host::Peer* const peer = peer_there();
        peer && peer->session && peer->session->life.value == life) {
      show(peer->session->received);
    }
    frames_to(other(node_), [&](Side&, host::Frame& frame) {
      auto* const carried = std::get_if<host::Carried>(&frame);
      if (carried && carried->letter.incarnation.value == life) show(carried->number);
    });
    frames_to(node_, [&](Side& side, host::Frame& frame) {
      if (read_instance(side.instance).life != life) return;
      if (auto* carried = std::get_if<host::Carried>(&frame)) show(carried->acknowledged);
      if (auto* acknowledged = std::get_if<host::Acknowledged>(&frame)) show(acknowledged->number);
      if (auto* hello = std::get_if<host::Hello>(&frame)) show(hello->received);
    });
  }

  SessionWorld& world_;
  unsigned node_;
  Node& own_;
  Node& there_;
};

void rank_connections(SessionWorld& world, unsigned node) {
  auto& life = node_at(world, node).life;
  if (!life) return;
  std::vector<std::pair<host::ConnectionId, host::ConnectionId>> ranks{{{}, {}}};
  life->connections = 0;
  bool is_ranked = true;
  for (Link& link : world.links)
    for (Side* side : {&link.dialler, &link.acceptor}) {
      if (side->node != node || !side->open || side->number.value == 0) continue;
      const host::ConnectionId rank{++life->connections};
      is_ranked = is_ranked && side->number == rank;
      ranks.emplace_back(side->number, rank);
      side->number = rank;
    }
  if (is_ranked) return;
  const auto rank_of = [&](host::ConnectionId number) {
    return std::find_if(ranks.begin(), ranks.end(),
                        [&](const auto& one) { return one.first == number; })
        ->second;
  };
  host::Sessions& sessions = life->sessions;
  std::map<host::ConnectionId, NodeId> whose;
  for (const auto& [number, of] : sessions.whose) whose.emplace(rank_of(number), of);
  sessions.whose = std::move(whose);
  for (auto& [of, peer] : sessions.peers) {
    if (auto* greeting = std::get_if<host::Greeting>(&peer.touch))
      greeting->connection = rank_of(greeting->connection);
    if (auto* connected = std::get_if<host::Connected>(&peer.touch))
      connected->connection = rank_of(connected->connection);
  }
  for (host::UnknownPeer& unknown_peer : sessions.unknown_peers)
    unknown_peer.connection = rank_of(unknown_peer.connection);
}

void forget(host::Sessions& sessions) {
  for (const Deadline& deadline : deadlines(sessions)) *deadline.at = some_day;
  sessions.wake.reset();
  sessions.soonest.reset();
  sessions.counters = {};
  sessions.warned.clear();
  sessions.differing.clear();
  sessions.life_claims.clear();
  for (auto& [node, peer] : sessions.peers) {
    peer.refuses_this_life = false;
    peer.quick_dials = std::min(peer.quick_dials, 1U);  // the first redial is at once
    peer.slow_dials = std::min(peer.slow_dials, 1U);    // silence was found
    if (auto* connected = std::get_if<host::Connected>(&peer.touch)) connected->written = 0;
    if (!peer.session) continue;
    peer.session->told = 0;  // no acknowledgement is ever due
    peer.session->untold_bytes = peer.session->queued_bytes = 0;
    for (host::Queued& queued : peer.session->queue) queued.size = 0;
  }
}

// Nothing is read after the end of a connection. The writer's instance has an effect only while
// something is left to read.
void forget(Side& side, const Side& far) {
  const auto end = std::find_if(side.coming.begin(), side.coming.end(), [](const Parcel& parcel) {
    return std::holds_alternative<Gone>(parcel);
  });
  if (end != side.coming.end()) side.coming.erase(end + 1, side.coming.end());
  for (Parcel& parcel : side.coming)
    if (auto* frame = std::get_if<host::Frame>(&parcel))
      if (auto* refusal = std::get_if<host::Refusal>(frame)) refusal->text.clear();
  if (side.open) return;
  side.number = {};
  if (far.coming.empty()) side.instance = 0;
}

bool is_over(const Link& link) {
  return !link.dialler.open && !link.acceptor.open;
}

}  // namespace

void make_canonical(SessionWorld& world, const SessionBounds& bounds) {
  std::erase_if(world.links, is_over);
  world.drain_finds = true;
  world.drained = false;
  for (const auto trouble : all_troubles)
    if (bounds.troubles.*trouble == any_number) world.had.*trouble = 0;
  for (Link& link : world.links) {
    forget(link.dialler, link.acceptor);
    forget(link.acceptor, link.dialler);
  }
  for (unsigned node : {1U, 2U}) {
    rank_connections(world, node);
    if (auto& life = node_at(world, node).life) forget(life->sessions);
  }
  for (unsigned node : {1U, 2U}) Numbers(world, node).rank_all();
}

}  // namespace muster::lab::sessions
