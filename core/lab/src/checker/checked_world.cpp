#include "checked_world.hpp"

#include <muster/values/archive.hpp>
#include <muster/values/ensure.hpp>

#include <cstring>

namespace muster::lab::explored {

// --- Steps of one node

const Outcome& Mover::outcome(std::uint32_t local, std::uint32_t code, std::uint8_t fails_after) {
  const auto known_or_new = [&](Memo<std::uint32_t>& memo, std::uint64_t key, std::uint8_t after) {
    if (const auto* known = memo.find(key); known && !witness_) return *known;
    outcomes_.push_back(compute(local, code, after));
    const auto index = static_cast<std::uint32_t>(outcomes_.size() - 1);
    if (!witness_) memo.insert(key, index);
    return index;
  };
  if (witness_) return outcomes_[known_or_new(memo_, 1, fails_after)];
  const std::uint32_t index =
      known_or_new(memo_, (std::uint64_t{local} << 32 | code) + 1, Label::whole);
  if (fails_after == Label::whole) return outcomes_[index];
  return outcomes_[known_or_new(parts_, (std::uint64_t{index} << 8 | fails_after) + 1,
                                fails_after)];
}

namespace {

void run(Host& host, const Local& node, Op op, std::uint32_t argument, const LocalFacts& facts) {
  switch (op) {
    case Op::take:
      break;
    case Op::expire:
      return host.expire(static_cast<Timer>(argument));
    case Op::end_hook:
      return host.end_hook(true);
    case Op::fail_hook:
      return host.end_hook(false);
    case Op::silence:
      return host.silence(std::next(node.calls.begin(), argument)->first);
    case Op::refuse:
      return host.refuse(NodeId{argument + 1});
    case Op::recover:
      return host.recover();
    case Op::fail:
      return host.fail();
    case Op::pause:
      return host.pause();
    case Op::resume:
      return host.resume();
    case Op::leave:
      return host.leave();
    case Op::meet:
      return host.meet(NodeId{(argument >> 24) + 1}, Incarnation{argument & 0xFFFFFF});
    case Op::change:
      return host.change();
    case Op::copy:
      return host.copy();
    case Op::restore:
      return host.restore();
    case Op::not_waited:
      return host.not_waited(NodeId{(argument >> 24) + 1}, CallNumber{argument & 0xFFFFFF});
  }
  static_cast<void>(facts);
}

NodeId peer_of(const Item& item) {
  return std::visit(
      [](const auto& what) {
        if constexpr (requires { what.from; })
          return what.from;
        else if constexpr (requires { what.by; })
          return what.by;
        else
          return what.peer;
      },
      item);
}

}  // namespace

Outcome Mover::compute(std::uint32_t id, std::uint32_t code, std::uint8_t fails_after) {
  Local node = values_.local(id);
  const auto op = static_cast<Op>(code >> 28);
  const std::uint32_t argument = code & 0xFFFFFFF;
  Host host(values_.bounds, values_.configs[node.node.value - 1], node, witness_);
  if (fails_after != Label::whole) host.fail_after(fails_after);
  if (op == Op::take) {
    const Item item = values_.item(argument);
    host.take(peer_of(item), item);
  } else {
    run(host, node, op, argument, values_.locals.facts(id));
  }
  host.end_prompt_hooks();
  Outcome outcome;
  outcome.actions = host.actions();
  for (Put& put : host.effects.puts)
    outcome.puts.push_back({static_cast<std::uint8_t>(put.to.value - 1),
                            static_cast<std::uint8_t>(put.from.value - 1), put.front,
                            values_.item(put.item),
                            static_cast<std::uint32_t>(put.life.value_or(Incarnation{}).value)});
  for (const Wrong& wrong : host.effects.wrong)
    if (outcome.wrong == 0 && values_.looks_at(wrong.assertion))
      outcome.wrong = values_.wrong(wrong);
  if (host.effects.reorganizes) outcome.reorganizes = values_.members(*host.effects.reorganizes);
  outcome.fits = node.calls.size() <= most_waiting;
  if (outcome.fits) outcome.next = values_.local(node);
  return outcome;
}

// P4: every member must be stopped. A member that has died since its stop is not checked. Nothing
// is checked if links stay cut: two candidates that do not hear each other may both halt a member,
// and the member works for one of them.
void Mover::check_members(const CheckedWorld& world, const Outcome& outcome, std::uint32_t& wrong) {
  for (const Member& member : values_.members(outcome.reorganizes)) {
    const std::size_t j = member.node.value - 1;
    const LocalFacts& node = facts(world, j);
    if (!node.up || node.paused || world.node[j] == outcome.next) continue;
    if (node.works || (node.life == member.incarnation.value && !node.ceased))
      wrong = values_.wrong({"hook-grammar",
                             {{member.node},
                              "reorganize begins before member " +
                                  std::to_string(member.node.value) + " is stopped (P4)"}});
  }
}

bool Mover::put(CheckedWorld& world, const Outcome& outcome, std::uint32_t& wrong) {
  if (outcome.wrong) wrong = outcome.wrong;
  if (outcome.reorganizes && !wrong && !values_.of_groups && values_.bounds.cuts.empty() &&
      values_.looks_at("hook-grammar"))
    check_members(world, outcome, wrong);
  for (const Outcome::Put& put : outcome.puts) {
    const LocalFacts& to = facts(world, put.to);
    if (put.life != 0 && (!to.up || to.life != put.life)) continue;
    if (is_cut(world, put.to, put.from) && values_.items.facts(put.item).letter) continue;
    if (!push(world, put.to, put.from, put.item, put.front)) return false;
  }
  return true;
}

bool Mover::apply(CheckedWorld& world, std::size_t i, std::uint32_t code, std::uint32_t& wrong,
                  std::uint8_t fails_after) {
  const Outcome& done = outcome(world.node[i], code, fails_after);
  if (!done.fits) return false;
  world.node[i] = done.next;
  if (!put(world, done, wrong)) return false;
  drop_dead(world, i);
  forget_calls(world, i);
  for (const Outcome::Put& put : done.puts)
    if (values_.items.facts(put.item).answer) drop_dead(world, put.to);
  return true;
}

// A node begins a life, and sessions with all nodes that are up begin. A peer that has a session
// with the former life begins the new one when it has taken everything that came from the former
// life.
bool Mover::recover(CheckedWorld& world, std::size_t i, std::uint32_t& wrong,
                    std::uint8_t fails_after) {
  const bool session = values_.bounds.channels == Channels::session;
  for (std::size_t j = 0; session && j < nodes(); ++j) {
    if (j == i || !facts(world, j).up || facts(world, j).other != facts(world, i).other) continue;
    if (is_cut(world, i, j)) continue;
    const auto peer = static_cast<std::uint32_t>(j) << 24;
    world.node[i] =
        outcome(world.node[i], explored::code_of(Op::meet, peer | facts(world, j).life)).next;
  }
  const Outcome& recovery = outcome(world.node[i], explored::code_of(Op::recover), fails_after);
  world.node[i] = recovery.next;
  const std::uint32_t life = facts(world, i).life;
  for (std::size_t j = 0; session && facts(world, i).up && j < nodes(); ++j) {
    const LocalFacts& other = facts(world, j);
    if (j == i || !other.up || is_cut(world, i, j)) continue;
    if (other.other != facts(world, i).other) {
      if (!meet_differing(world, i, j) || !meet_differing(world, j, i)) return false;
      continue;
    }
    const NodeId self{static_cast<std::uint32_t>(i + 1)};
    if (world.length[queue(j, i)] == 0 && other.with[i] == 0) {
      const auto meeting = explored::code_of(Op::meet, static_cast<std::uint32_t>(i) << 24 | life);
      if (!apply(world, j, meeting, wrong)) return false;
      continue;
    }
    Item item = NewLife{self, Incarnation{life}};
    if (other.with[i] == 0) item = Begins{self, Incarnation{life}};
    if (!push(world, j, i, values_.item(item), false)) return false;
  }
  return put(world, recovery, wrong);
}

// Node i will find that j differs when it has taken everything from j's former life.
bool Mover::meet_differing(CheckedWorld& world, std::size_t i, std::size_t j) {
  Item item = Differs{NodeId{static_cast<std::uint32_t>(j + 1)}};
  return push(world, i, j, values_.item(item), false);
}

// The key under which the result of this move is remembered.
std::uint32_t Mover::code_of(const CheckedWorld& world, const Label& label) const {
  if (label.op == Op::take)
    return world.item[begin_of(world, queue(label.node, label.peer)) + label.index];
  return explored::code_of(label.op, label.op == Op::refuse ? label.peer : label.index);
}

// --- Moves

void Mover::let_pass(CheckedWorld& world) {
  for (std::size_t i = 0; i < nodes(); ++i) {
    if (!facts(world, i).up) continue;
    Local node = values_.local(world.node[i]);
    let_pass_tick(node);
    world.node[i] = values_.local(node);
  }
}

bool Mover::step(CheckedWorld& world, const Label& label, std::uint32_t& wrong, Witness* witness) {
  witness_ = witness;
  const std::size_t in = queue(label.node, label.peer);
  const std::size_t i = label.node;
  bool fits = true;
  if (label.what == Label::What::tick) {
    spend(world, Trouble::tick);
    let_pass(world);
  } else if (label.what != Label::What::op) {
    if (label.what == Label::What::lose) spend(world, Trouble::loss);
    if (label.what != Label::What::duplicate) {
      erase(world, in, label.index);
    } else {
      spend(world, Trouble::duplicate);
      fits = apply(world, i, world.item[begin_of(world, in) + label.index], wrong);
    }
  } else {
    const std::uint32_t code = code_of(world, label);
    if (label.op == Op::take) erase(world, in, label.index);
    if (label.op == Op::fail || label.fails_after != Label::whole) spend(world, Trouble::failure);
    if (label.op == Op::pause) spend(world, Trouble::pause);
    if (label.op == Op::leave) spend(world, Trouble::leave);
    if (label.op == Op::fail_hook) spend(world, Trouble::hook);
    if (label.op == Op::change) spend(world, Trouble::difference);
    if (label.op == Op::restore) spend(world, Trouble::restore);
    if (label.op == Op::silence && can_be_answered(world, i, facts(world, i).waits[label.index]))
      spend(world, Trouble::wrong_timeout);
    fits = label.op == Op::recover ? recover(world, i, wrong, label.fails_after)
                                   : apply(world, i, code, wrong, label.fails_after);
  }
  witness_ = nullptr;
  if (fits && values_.bounds.canonical) canonical_.expect(world, nodes());
  return fits;
}

// --- The canonical form of a world with true numbers

namespace {

// The number of a call in the canonical form. Calls of the caller's former lives become equal,
// because no node waits for them. In a session, `life` is the life that made the call; without
// sessions the number itself contains the life.
CallNumber plain(const Bounds& bounds, CallNumber call, std::optional<Incarnation> life,
                 const LocalFacts& caller) {
  const CallNumber number = at_the_caller(call);
  if (bounds.channels == Channels::session && life != Incarnation{caller.life}) return {};
  return call == on_its_way(bounds, {caller.life}, number) ? number : CallNumber{};
}

}  // namespace

CheckedWorld Mover::canonical_of(const Values& true_values, const CheckedWorld& world) {
  CheckedWorld out = world;
  const auto caller = [&](NodeId node) -> const LocalFacts& {
    return true_values.locals.facts(world.node[node.value - 1]);
  };
  for (std::size_t i = 0; i < nodes(); ++i) {
    Local local = true_values.local(world.node[i]);
    visit_owed(local.state, [&](NodeId to, CallNumber& call) {
      call = plain(true_values.bounds, call, local.with[to.value - 1], caller(to));
    });
    out.node[i] = values_.local(local);
  }
  for (std::size_t k = 0; k < world.items; ++k) {
    Item item = true_values.item(world.item[k]);
    auto* letter = std::get_if<Letter>(&item);
    if (letter && is_answer(*letter))  // the other answers were dropped
      letter->call = at_the_caller(letter->call);
    else if (letter)
      letter->call =
          plain(true_values.bounds, letter->call, letter->incarnation, caller(letter->from));
    out.item[k] = values_.item(item);
  }
  for (std::size_t i = 0; i < nodes(); ++i) drop_dead(out, i);
  for (std::size_t i = 0; i < nodes(); ++i) forget_calls(out, i);
  make_canonical(out);
  return out;
}

}  // namespace muster::lab::explored
