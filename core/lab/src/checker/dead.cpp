#include "local.hpp"

#include <algorithm>
#include <array>

/// What can have no effect any more, so that worlds that differ only in it are one.

namespace muster::lab::explored {

namespace {

// An election without tags is known by its candidate alone; its life only to proofs.
void forget(const Repairs& repairs, ElectionId& election) {
  if (repairs.tags) return;
  election.number = 0;
  if (!repairs.proofs) election.incarnation = {};
}

void forget(const Bounds& bounds, Answer& answer) {
  const auto no_counter = [&](auto* result) {
    if (result && !bounds.counters) result->counter = 0;
  };
  no_counter(std::get_if<Halted>(&answer.result));
  no_counter(std::get_if<invitation::Coordinating>(&answer.result));
  no_counter(std::get_if<invitation::Invited>(&answer.result));
  if (auto* joined = std::get_if<Joined>(&answer.result)) joined->holdings = {};
  if (auto* refused = std::get_if<Refused>(&answer.result)) refused->why.clear();
}

// In the paper's text, where letters come in the order sent, a life decides only whether a member
// is the one that was halted: nobody is owed anything where hooks are prompt, and what is proven or
// matched by lives is a repair.
bool lives_name_members_only(const Bounds& bounds) {
  return bounds.protocol == ProtocolName::bully && bounds.channels == Channels::fifo &&
         bounds.hooks == Hooks::prompt && bounds.pauses == 0 && bounds.options == Options{} &&
         !bounds.repairs.tags && !bounds.repairs.proofs;
}

void forget_lives(Letter& letter) {
  const auto* answer = std::get_if<Answer>(&letter.message);
  if (!answer || !std::holds_alternative<Halted>(answer->result)) letter.incarnation = {};
  if (auto* call = std::get_if<NewCoordinator>(&letter.message)) call->receiver = {};
  if (auto* call = std::get_if<Ready>(&letter.message)) call->receiver = {};
}

void forget(const Bounds& bounds, Letter& letter) {
  const Repairs& repairs = bounds.repairs;
  if (lives_name_members_only(bounds)) forget_lives(letter);
  if (auto* halt = std::get_if<Halt>(&letter.message)) forget(repairs, halt->election);
  if (auto* call = std::get_if<NewCoordinator>(&letter.message)) forget(repairs, call->election);
  if (auto* call = std::get_if<Ready>(&letter.message)) forget(repairs, call->election);
  if (auto* call = std::get_if<AreYouNormal>(&letter.message); call && !repairs.normal_for_me)
    call->group = {};
  if (auto* accept = std::get_if<invitation::Accept>(&letter.message)) accept->holdings = {};
  if (auto* answer = std::get_if<Answer>(&letter.message)) forget(bounds, *answer);
}

// In sessions letters come from the life that the session joins.
void forget_lives(const Local& node, std::map<NodeId, Incarnation>& seen) {
  seen.clear();
  for (std::size_t i = 0; i < node.with.size(); ++i)
    if (node.with[i]) seen.emplace(static_cast<std::uint32_t>(i + 1), *node.with[i]);
}

void forget_safe(const Bounds& bounds, SafeState& safe) {
  safe.assigned.reset();
  const auto h = safe.vector.h;
  safe.vector = {};
  if (!stands(bounds.struck, Line::h_undefined_at_recovery)) safe.vector.h = h;
  if (bounds.channels == Channels::session || lives_name_members_only(bounds)) safe.seen.clear();
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

constexpr unsigned many = 10;  // Checks, for the back-off to fall back

// Checks are not counted: as many as it takes may follow one that found nothing. Nor is it counted
// how often a timer was doubled.
void forget_counts(bool back_off, unsigned& retry_level, unsigned& quiet_checks) {
  retry_level = back_off ? std::min(retry_level, 1u) : 0;
  if (retry_level == 0) quiet_checks = 0;
  if (quiet_checks > 0) quiet_checks = many;
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

void forget_own(const Bounds& bounds, bully::State& state) {
  for (Member& member : state.up) member.holdings = {};
  const bool in_vain = bounds.repairs.parallel_calls &&
                       std::holds_alternative<bully::SeekingHigher>(state.procedure);
  if (!in_vain && stands(bounds.struck, Line::halts_to_all)) state.asked_in_vain = {};
  if (state.s != Status::Election && stands(bounds.struck, Line::status_test_of_new_coordinator) &&
      stands(bounds.struck, Line::h_undefined_at_recovery))
    state.h.reset();
  if (state.answered_by && waits_for(state, *state.answered_by)) state.answered_by.reset();
  if (state.h) forget(bounds.repairs, *state.h);
  if (state.c) forget(bounds.repairs, *state.c);
  // In sessions the elections of one life ascend.
  const bool ascend = bounds.channels == Channels::session && bounds.duplicates == 0;
  if (!bounds.repairs.tags) state.elections = 0;
  if (!bounds.repairs.tags || ascend) state.last_halt.clear();
  if (!bounds.repairs.proofs || state.leaving || elects_anew(state.procedure))
    state.answered_by.reset();
  forget_counts(bounds.repairs.back_off, state.retry_level, state.quiet_checks);
}

void forget_own(const Bounds& bounds, invitation::State& state) {
  for (Member& member : state.up) member.holdings = {};
  forget_counts(bounds.invitation_repairs.back_off, state.retry_level, state.quiet_checks);
}

void forget_own(const Bounds&, textbook::State&) {}

}  // namespace

void forget_dead(const Bounds& bounds, Local& node) {
  if (!bounds.canonical) return;
  forget_safe(bounds, node.safe);
  if (!bounds.counters) node.accepted.reset();
  if (!node.up) return;
  std::visit(
      [&](auto& state) {
        if (!bounds.counters) node.safe.counter_limit = state.safe.counter_limit = state.counter;
        forget_safe(bounds, state.safe);
        state.report = {};
        if (bounds.hooks != Hooks::failing) state.failed_hooks = 0;
        if (bounds.channels == Channels::session && bounds.duplicates == 0)
          forget_lives(node, state.seen);
        if (lives_name_members_only(bounds)) state.seen.clear();
        forget_own(bounds, state);
        state.ticket = Ticket{1};  // of the hook that runs; an older one has ended
      },
      node.state);
  forget_calls(bounds, node);
  if (node.stops) node.runs.reset();  // it ends with the STOP
  if (node.runs) node.runs->ticket = Ticket{1};
  if (node.stops) node.stops->ticket = Ticket{1};
}

bool calls_act_by_their_tests(const Bounds& bounds) {
  constexpr std::array tests = {Line::h_test, Line::c_test, Line::status_test_of_new_coordinator,
                                Line::status_test_of_ready, Line::h_undefined_at_recovery};
  return lives_name_members_only(bounds) && !bounds.repairs.parallel_calls &&
         std::all_of(tests.begin(), tests.end(),
                     [&](Line line) { return stands(bounds.struck, line); });
}

void forget_dead(const Bounds& bounds, Item& item) {
  if (!bounds.canonical) return;
  if (auto* letter = std::get_if<Letter>(&item)) forget(bounds, *letter);
}

}  // namespace muster::lab::explored
