#include "bully_turn.hpp"

namespace muster::bully {

// --- Remote procedures, immediate

// AreYouThere(i): reply (). With `preempt` a higher node may refuse instead (option_preempt.cpp).
void BullyTurn::called(const Letter& letter, const AreYouThere&) {
  const NodeId j = letter.from;
  switch (options_.judge_reply(j)) {
    case Reply::stands_back:
      rearm_coordinator_ = true;
      return answer(j, letter.call, Refused{"stands back"});
    case Reply::does_not_coordinate:
      return answer(j, letter.call, Refused{"does not coordinate"});
    case Reply::here:
      answer(j, letter.call, Here{});
  }
  // Departs from the paper: a question from a lower node is a sign that it has restarted. A Normal
  // coordinator asks the lower node AreYouNormal at once, so that the lower node need not wait for
  // the next Check(i).
  if (repairs_.proofs && state_.s == Status::Normal && coordinates() && j < config_.self)
    ask_normal(j);
  elect_for_a_new_one(j);
}

// AreYouThere(i, gn): reply [[ S.g = gn and (S.s = Reorganization or S.s = Normal) ]]. Departs from
// the paper: this question names the group; No tells which group the node is in, if any
// (left_behind.cpp).
void BullyTurn::called(const Letter& letter, const in_group::AreYouThere& call) {
  const std::optional<GroupNumber> group = works_in_group() ? state_.g : std::nullopt;
  if (group == call.group) return answer(letter.from, letter.call, Here{});
  answer(letter.from, letter.call, Elsewhere{group});
}

// AreYouNormal(i): reply [[ S.s = Normal ]]. Departs from the paper: Yes means Normal in the group
// of the node that asks. After a false timeout there may be two coordinators. With the paper's
// answer the two find each other Normal, and both go on (bully/findings.md, "A split does not heal
// by itself"; docs/findings.md, S1 and S2).
void BullyTurn::called(const Letter& letter, const AreYouNormal& call) {
  const bool is_fine = is_normal_for(letter.from, call.group) || is_about_to_halt(letter.from);
  answer(letter.from, letter.call, Normality{is_fine});
  end_settling();
  if (options_.judge_found(letter.from) == Found::waits) rearm_coordinator_ = true;
}

// Halt(i, j): [[ S.s := Election; S.h := j; STOP ]]; reply (). As in the paper a Halt of any node
// is obeyed, even after the Halt of a higher one. Departs from the paper: a Halt of an election
// that is no newer than the last one of j is ignored, and not answered.
//
// Departs from the paper: the answer goes out at once, and does not wait for the application to
// stop. So members stop side by side, and not one after the other. The answer to NewCoordinator
// says when this node's application has stopped (bully/findings.md, "Slow stops"). The answer also
// tells the highest group counter that this node has seen.
void BullyTurn::called(const Letter& letter, const Halt& call) {
  const NodeId j = letter.from;
  if (!newer_halts_only(j, call.election)) return;
  if (!unconditional_halt(j)) return answer(j, letter.call, Refused{"halted by a higher node"});
  options_.halted_by(j);
  state_.s = Status::Election;
  state_.h = call.election;
  forget_group();
  state_.answered_by.reset();
  stop({StopReason::halted, j});
  rearm_coordinator_ = true;
  if (waits_for_own_stop())
    state_.owed.push_back({j, letter.call, Bound::answer});
  else
    answer(j, letter.call, Halted{state_.counter, {state_.application == Activity::Idle}});
}

// NewCoordinator(i, j): [[ if S.h = j and S.s = Election then S.c := j; S.s := Reorganization ]];
// reply (). The answer is sent when the application has stopped, with its report.
//
// Departs from the paper: a refusal is reported. Departs from the paper: the life that was halted
// must still be this one, and the group's number must be above all numbers that this node has seen.
// So each group that a node joins has a higher number than its last one.
void BullyTurn::called(const Letter& letter, const NewCoordinator& call) {
  const NodeId j = letter.from;
  if (owes(j, letter.call)) return;
  const auto refused = [&](std::string why) {
    refuse(j, letter.call, Bound::stopped, std::move(why));
  };
  if (state_.leaving) return refused("leaving");
  if (!status_test_of_new_coordinator() || !h_test(call.election))
    return refused("not halted by this election");
  if (!life_test(call.receiver)) return refused("another life was halted");
  if (!counter_test(call.group.counter)) return refused("the group number is not a new one");
  state_.counter = call.group.counter;
  options_.joins(j);
  state_.c = call.election;
  state_.g = call.group;
  state_.s = Status::Reorganization;
  rejoined();
  if (state_.counter > state_.safe.counter_limit) save();
  rearm_coordinator_ = true;
  if (state_.application == Activity::Idle)
    answer(j, letter.call, Joined{holdings()});
  else
    state_.owed.push_back({j, letter.call, Bound::stopped});
}

// Ready(i, j, x): [[ if S.c = j and S.s = Reorganization then S.d := x; S.s := Normal ]]; reply ().
// The node is Normal, and answers, when its application has started. Departs from the paper: a
// refusal is reported.
void BullyTurn::called(const Letter& letter, const Ready& call) {
  const NodeId j = letter.from;
  if (owes(j, letter.call)) return;
  const auto refused = [&](std::string why) {
    refuse(j, letter.call, Bound::started, std::move(why));
  };
  if (state_.leaving) return refused("leaving");
  if (!status_test_of_ready() || !c_test(call.election))
    return refused("not reorganized by this election");
  if (!life_test(call.receiver)) return refused("another life was halted");
  if (state_.application != Activity::Idle) return refused("the application is not stopped");
  rearm_coordinator_ = true;
  state_.d = call.definition;
  ready(j, letter.call);
}

// --- Election(i)

// Phase A: for j = i+1, ..., n: call AreYouThere(j). Departs from the paper: the nearest higher
// node is asked first, and all others together if that one does not answer. When all survivors
// notice a failure at once, the nearest node usually answers, and each of them sends one question.
void BullyTurn::election(NodeSet asked_in_vain) {
  options_.election_begins();
  end_procedure();
  if (waits_to_rejoin()) return;
  state_.asked_in_vain = std::move(asked_in_vain);
  SeekingHigher wait;
  for (NodeId j : config_.nodes)
    if (j > config_.self) wait.not_asked.insert(j);
  state_.procedure = std::move(wait);
  ask_higher(false);
}

// [[ STOP; S.s := Election; S.h := i; S.Up := {} ]], when no higher node has answered phase A.
void BullyTurn::halt_lower() {
  options_.halting_begins();
  stop({StopReason::own_election, std::nullopt});
  state_.s = Status::Election;
  ++state_.elections;
  state_.h = own_election();
  forget_group();
  state_.answered_by.reset();
  if (waits_for_own_stop())
    state_.procedure = Ceasing{};
  else
    halt_next(config_.self);
}

// The election point: [[ S.c := i; S.s := Reorganization ]]. An option may refuse to form a group:
// too few nodes were halted for a quorum, or this coordinator loses its groups so often that it
// leaves (calm). With calm some halted nodes stay out of the group.
void BullyTurn::election_point() {
  if (const auto level = options_.level_given_back()) state_.retry_level = *level;
  switch (options_.judge_group()) {
    case Group::too_few:
      return await_majority(up(), std::nullopt);
    case Group::leave:
      leave(LeaveCause::unsteady);
      return ask_others();
    case Group::forms:
      break;
  }
  for (NodeId j : options_.take_held_out()) leave_out(j);
  form_group();
  ask_others();
}

// The new group's counter is above each counter that the halted nodes or this node have seen. Phase
// C begins.
void BullyTurn::form_group() {
  state_.g = GroupNumber{++state_.counter, config_.self};
  state_.c = own_election();
  state_.s = Status::Reorganization;
  if (state_.counter > state_.safe.counter_limit) save();
  Announcing wait;
  for (const Member& j : state_.up) wait.not_announced.insert(j.node);
  state_.procedure = std::move(wait);
  rearm_check_ = true;
  announce();
  reorganize_when_all_stopped();
}

// S.d := reorganize(). The reorganization begins when this node has stopped and each member has
// answered NewCoordinator. This answer says that the member has stopped. Work of the old task must
// not overlap the new one (bully/findings.md, "What Halt waits for"). With a quorum the
// reorganization also waits until nodes outside S(i).Up have ceased.
void BullyTurn::reorganize_when_all_stopped() {
  const auto* wait = std::get_if<Announcing>(&state_.procedure);
  if (!wait || !wait->not_announced.empty()) return;
  if (!reorganize_after_stops(*wait)) return;
  if (state_.application != Activity::Idle) return;
  if (options_.judge_phase(Next::reorganize) == Phase::later) return;
  state_.procedure = Reorganizing{wait->questions};
  compute_definition(all_members());
}

// Phase Y: for j in S.Up: call Ready(j, i, S.d). Departs from the paper: the coordinator starts its
// own application at the same time.
void BullyTurn::make_ready() {
  if (options_.judge_phase(Next::ready) == Phase::later) return;
  MakingReady wait;
  wait.questions = *questions();
  for (const Member& j : state_.up) wait.not_readied.insert(j.node);
  state_.procedure = std::move(wait);
  send_ready();
  own_ready();
}

// All members have started: [[ S.s := Normal ]]. With `resume = "all"` the first Ready only tells
// the members their task, and a second Ready starts it.
void BullyTurn::all_ready() {
  if (options_.judge_ready() == Readiness::install) {
    options_.told_task();
    return make_ready();
  }
  if (state_.application == Activity::Idle) return start_own();  // one by one: this node comes last
  if (state_.application != Activity::Working) return;
  state_.s = Status::Normal;
  forget_failures(!state_.up.empty());
  end_procedure();
}

// --- Recovery(i), Check(i), Timeout(i)

// Recovery(i): S.h := undefined; Election(i). The life begins Down with S.h undefined. If it began
// in Election and still knew its halter, a late NewCoordinator to its former life would be accepted
// (docs/findings.md, M3).
void BullyTurn::recovery() {
  fail();
  if (!down_at_recovery()) state_.s = Status::Election;
  options_.life_begins();
  begin();
}

void BullyTurn::begin(bool settled) {
  switch (options_.judge_beginning(settled)) {
    case Beginning::elect:
      return election();
    case Beginning::wait_for_others:
      return settle();
    case Beginning::wait_to_be_found:
      return;
  }
}

// Check(i): if [[ S.s = Normal and S.c = i ]]: for every j /= i: call AreYouNormal(j). Departs from
// the paper: the calls go out side by side.
void BullyTurn::check() {
  if (state_.s != Status::Normal || !coordinates()) return;
  if (!runs<Idle>() && !runs<Checking>()) return;
  count_quiet_check();
  if (side_by_side_)
    for (NodeId j : config_.nodes) ask_normal(j);
  else if (runs<Idle>())
    ask_each_normal();
}

// Timeout(i): if [[ S.s = Normal or S.s = Reorganization ]]: call AreYouThere(S.c), else
// Election(i). Departs from the paper: a member asks about its group (left_behind.cpp), and a
// coordinator without a procedure starts over (`self_timeout`).
void BullyTurn::timeout() {
  if (!works_in_group()) return election();
  if (coordinates()) {
    if (self_timeout()) start_over(false);
    return;
  }
  if (runs<Probing>()) return;
  const NodeId c = state_.c->candidate;
  state_.procedure = Probing{call(c, question_to_coordinator(), Bound::answer), c};
}

}  // namespace muster::bully
