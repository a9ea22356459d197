#include "local.hpp"

/// What can have no effect any more, so that worlds that differ only in it are one.

namespace muster::lab::explored {

namespace {

// An election without tags is known by its candidate alone; its life only to proofs.
void forget(const Repairs& repairs, ElectionId& election) {
  if (repairs.tags) return;
  election.number = 0;
  if (!repairs.proofs) election.incarnation = {};
}

void forget(const Bounds& bounds, Letter& letter) {
  const Repairs& repairs = bounds.repairs;
  if (auto* halt = std::get_if<Halt>(&letter.message)) forget(repairs, halt->election);
  if (auto* call = std::get_if<NewCoordinator>(&letter.message)) forget(repairs, call->election);
  if (auto* call = std::get_if<Ready>(&letter.message)) forget(repairs, call->election);
  if (auto* call = std::get_if<AreYouNormal>(&letter.message); call && !repairs.normal_for_me)
    call->group = {};
  if (auto* answer = std::get_if<Answer>(&letter.message)) {
    if (auto* halted = std::get_if<Halted>(&answer->result); halted && !bounds.counters)
      halted->counter = 0;
    if (auto* joined = std::get_if<Joined>(&answer->result)) joined->holdings = {};
    if (auto* refused = std::get_if<Refused>(&answer->result)) refused->why.clear();
  }
}

// In sessions letters come from the life that the session joins, and elections of one life ascend.
void forget_lives(Local& node) {
  bully::State& state = node.state;
  state.last_halt.clear();
  state.seen.clear();
  for (std::size_t i = 0; i < node.with.size(); ++i)
    if (node.with[i]) state.seen.emplace(static_cast<std::uint32_t>(i + 1), *node.with[i]);
  if (state.answered_by) state.answered_by->incarnation = {};
}

void forget_safe(const Bounds& bounds, SafeState& safe) {
  safe.assigned.reset();
  const auto h = safe.vector.h;
  safe.vector = {};
  if (!stands(bounds.struck, Line::h_undefined_at_recovery)) safe.vector.h = h;
  if (bounds.channels == Channels::session) safe.seen.clear();
}

void forget_calls(const Bounds& bounds, Local& node) {
  for (auto& [number, call] : node.calls) {
    Letter& letter = call.letter;
    letter.incarnation = {};
    forget(bounds, letter);
    const bool session = bounds.channels == Channels::session;
    if (session && !life_called(letter)) continue;  // it may go to another life
    const auto named = life_called(letter);
    if (named && session)
      letter.message = NewCoordinator{{}, *named, {}};
    else
      letter.message = AreYouThere{};
  }
}

bool elects_anew(const bully::Procedure& procedure) {
  return std::holds_alternative<bully::SeekingHigher>(procedure) ||
         std::holds_alternative<bully::BackingOff>(procedure);
}

// Its failure is proven to whom it matters anyhow.
bool waits_for(const bully::State& state, NodeId node) {
  if (state.s == Status::Election) return state.h && state.h->candidate == node;
  return state.s != Status::Down && state.c && state.c->candidate == node;
}

constexpr unsigned many = 10;  // Checks, for the back-off to fall back

}  // namespace

void forget_dead(const Bounds& bounds, const Config&, Local& node) {
  if (!bounds.canonical) return;
  forget_safe(bounds, node.safe);
  if (!bounds.counters) node.accepted.reset();
  if (!node.up) return;
  bully::State& state = node.state;
  if (!bounds.counters) node.safe.counter_limit = state.safe.counter_limit = state.counter;
  forget_safe(bounds, state.safe);
  state.holdings = {};
  for (Member& member : state.up) member.holdings = {};
  if (!std::holds_alternative<bully::SeekingHigher>(state.procedure)) state.asked_in_vain = {};
  if (state.s != Status::Election && stands(bounds.struck, Line::status_test_of_new_coordinator) &&
      stands(bounds.struck, Line::h_undefined_at_recovery))
    state.h.reset();
  if (state.answered_by && waits_for(state, state.answered_by->node)) state.answered_by.reset();
  if (state.h) forget(bounds.repairs, *state.h);
  if (state.c) forget(bounds.repairs, *state.c);
  if (!bounds.repairs.tags) {
    state.elections = 0;
    state.last_halt.clear();
  }
  if (!bounds.repairs.proofs || state.leaving || elects_anew(state.procedure))
    state.answered_by.reset();
  state.retry_level = bounds.repairs.back_off ? std::min(state.retry_level, 1u) : 0;
  if (state.retry_level == 0) state.quiet_checks = 0;
  // Checks are not counted: as many as it takes may follow one that found nothing.
  if (state.quiet_checks > 0) state.quiet_checks = many;
  if (bounds.hooks != Hooks::failing) state.failed_hooks = 0;
  if (bounds.channels == Channels::session && bounds.duplicates == 0) forget_lives(node);
  forget_calls(bounds, node);
  if (node.stops) node.runs.reset();  // it ends with the STOP
  state.ticket = Ticket{1};           // of the hook that runs; an older one has ended
  if (node.runs) node.runs->ticket = state.ticket;
  if (node.stops) node.stops->ticket = state.ticket;
}

void forget_dead(const Bounds& bounds, Item& item) {
  if (!bounds.canonical) return;
  if (auto* letter = std::get_if<Letter>(&item)) forget(bounds, *letter);
}

}  // namespace muster::lab::explored
