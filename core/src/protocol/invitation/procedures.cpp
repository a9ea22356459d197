#include "invitation_turn.hpp"

#include <algorithm>

namespace muster::invitation {

// --- Remote procedures

// AreYouCoordinator(i): reply [[ S.s = Normal and S.c = i ]]. A node that is leaving says No, so
// that it is not invited. The answer also tells the group and the counter of this node.
void InvitationTurn::called(const Letter& letter, const AreYouCoordinator&) {
  const bool yes = state_.s == Status::Normal && coordinates() && !state_.leaving;
  answer(letter.from, letter.call, Coordinating{yes, state_.g, state_.counter});
}

// AreYouThere(i, gn, j): reply [[ S.g = gn and S.c = i and j in S.Up ]]. Departs from the paper:
// the life of j that asks must be the one in S.Up. Departs from the paper: a member that is still
// in Reorganization while its coordinator is Normal gets No. Such a member has missed its Ready,
// and would wait for ever (invitation/findings.md, "A member stuck in reorganization";
// docs/findings.md, I7 and I11).
void InvitationTurn::called(const Letter& letter, const AreYouThere& call) {
  const Member* j = member(letter.from);
  bool yes = state_.g == call.group && coordinates() && j;
  if (repairs_.tags) yes = yes && j->incarnation == letter.incarnation;
  if (repairs_.probe_tells_status)
    yes = yes && (state_.s != Status::Normal || call.status == Status::Normal);
  answer(letter.from, letter.call, Membership{yes});
}

// Accept(i, j, gn): [[ if S.s = Election and S.g = gn and S.c = i then S.Up := S.Up + {j} ]]; reply
// (). Departs from the paper: an Accept names the nodes to which its sender has forwarded the
// Invitation, so that this node knows which Accepts are still to come.
void InvitationTurn::called(const Letter& letter, const Accept& call) {
  const NodeId j = letter.from;
  auto* wait = std::get_if<Inviting>(&state_.procedure);
  if (!wait || state_.g != call.group)
    return refuse(j, letter.call, Here{}, "too late: that group is not being formed");
  drop(j);
  const auto at = std::find_if(state_.up.begin(), state_.up.end(),
                               [&](const Member& other) { return j < other.node; });
  state_.up.insert(at, Member{j, letter.incarnation, call.holdings});
  wait->coming.erase(j);
  for (NodeId k : call.forwarded)
    if (k != config_.self && !member(k)) wait->coming.insert(k);
  answer(j, letter.call, Here{});
  reorganize_when_all_accepted();
}

// Ready(i, j, gn, x): [[ if S.s = Reorganization and S.g = gn then S.d := x; S.s := Normal ]];
// reply (). The node is Normal, and answers, when its application has started.
void InvitationTurn::called(const Letter& letter, const Ready& call) {
  const NodeId j = letter.from;
  if (owes(j, letter.call)) return;
  const auto refused = [&](std::string why) {
    refuse(j, letter.call, Installed{}, std::move(why));
  };
  if (state_.leaving) return refused("leaving");
  if (state_.s != Status::Reorganization || state_.g != call.group || coordinates())
    return refused("not in Reorganization of that group");
  if (call.receiver && call.receiver != state_.safe.incarnation)
    return refused("another life has accepted");
  if (state_.application != Activity::Idle) return refused("the application is not stopped");
  if (runs<Accepting>()) end_procedure();
  state_.d = call.definition;
  rearm_coordinator_ = true;
  state_.owed.push_back({j, letter.call});
  start_own();
}

// Invitation(i, j, gn): [[ if S.s /= Normal: return; STOP; old := S.c; M := S.Up; S.s := Election;
// S.c := j; S.g := gn ]]. Departs from the paper: an Invitation into the node's own group is
// declined, and so is one into a group without a higher number. If members accepted Invitations
// into their own group, a member would leave Normal only to join the group that it is in
// (invitation/findings.md, "A member stuck in reorganization"). The answer says whether an Accept
// will follow.
void InvitationTurn::called(const Letter& letter, const Invitation& call) {
  const NodeId j = call.group.coordinator;
  const bool declined = state_.s != Status::Normal || state_.leaving || j == config_.self ||
                        (repairs_.ignore_own_group && state_.g == call.group) ||
                        (repairs_.growing_numbers && state_.g >= call.group);
  if (declined) return answer(letter.from, letter.call, Invited{false, state_.counter});
  learn(call.group.counter);
  Forwarding wait;
  if (coordinates())
    for (const Member& k : state_.up) wait.not_invited.push_back(k.node);
  state_.s = Status::Election;
  state_.c = j;
  state_.g = call.group;
  state_.d.reset();
  state_.up.clear();
  if (state_.counter > state_.safe.counter_limit) save();
  stop({StopReason::invited, j});
  answer(letter.from, letter.call, Invited{true, state_.counter});
  state_.procedure = std::move(wait);
  forward();
}

// if old = i: for k in M: call Invitation(k, j, gn).
void InvitationTurn::forward() {
  auto& wait = std::get<Forwarding>(state_.procedure);
  call_next(wait.invited, wait.not_invited, Invitation{*state_.g}, Bound::answer);
  accept_when_stopped();
}

// call Accept(j, i, gn); S.s := Reorganization. Departs from the paper: the status comes first. In
// the paper's order the coordinator may send Ready before the status is set, and then that Ready is
// ignored (invitation/findings.md, "The race of Accept and Ready").
void InvitationTurn::accept_when_stopped() {
  const auto* wait = std::get_if<Forwarding>(&state_.procedure);
  if (!wait || !wait->invited.empty() || !wait->not_invited.empty()) return;
  if (state_.application != Activity::Idle) return;
  if (repairs_.reorganization_first) state_.s = Status::Reorganization;
  const Accept letter{*state_.g, holdings(), wait->coming};
  state_.procedure = Accepting{call(*state_.c, letter, Bound::answer), *state_.c};
}

// --- fresh(), Recovery(i), Check(i)

// fresh(): counter := counter + 1; return (i, counter). The counter is in safe storage before it is
// used. If the counter were only in memory, a restarted node could give a new group the number of
// an old one (docs/findings.md, I4).
void InvitationTurn::fresh() {
  state_.g = GroupNumber{++state_.counter, config_.self};
  if (state_.counter > state_.safe.counter_limit) save();
}

// Recovery(i): [[ S.s := Election; STOP; S.g := fresh(); S.c := i; S.Up := {} ]]; S.s :=
// Reorganization; S.d := task for one node; [[ S.s := Normal ]]. The second part begins when this
// node has stopped.
void InvitationTurn::recovery(StopReason reason) {
  stop({reason, std::nullopt});
  state_.s = Status::Election;
  state_.c = config_.self;
  state_.d.reset();
  state_.up.clear();
  fresh();
  if (repairs_.back_off && state_.failed_hooks > 0) return back_off({});
  state_.procedure = Ceasing{};
  if (state_.application == Activity::Idle) reorganize();
}

// Check(i): if [[ S.s = Normal and S.c = i ]]: K := { j /= i : AreYouCoordinator(j) = Yes }.
void InvitationTurn::check() {
  if (state_.s != Status::Normal || !coordinates() || !runs<Idle>()) return;
  Checking wait;
  for (NodeId j : config_.nodes)
    if (j != config_.self) wait.not_asked.push_back(j);
  call_next(wait.asked, wait.not_asked, AreYouCoordinator{}, Bound::answer);
  if (!wait.asked.empty()) state_.procedure = std::move(wait);
}

// p := max K; if i < p: wait, for a time proportional to p - i, so that the higher coordinator
// merges first.
void InvitationTurn::give_way(NodeSet found) {
  const NodeId p = *std::prev(found.end());
  if (p < config_.self) return back_off(std::move(found));
  state_.procedure = GivingWay{std::move(found)};
  actions_.emplace_back(Arm{Timer::merge, p.value - config_.self.value});
}

// Waits before another Merge if the last Merges formed no group, and before another Recovery(i) if
// a hook has failed.
void InvitationTurn::back_off(NodeSet found) {
  const bool normal = state_.s == Status::Normal;
  const unsigned level = normal ? state_.retry_level : state_.failed_hooks;
  if (normal && (!repairs_.back_off || level == 0)) return merge(found);
  state_.procedure = BackingOff{std::move(found)};
  actions_.emplace_back(Arm{Timer::retry, std::min(level, highest_level) - 1});
}

// --- Merge(i, K)

// Merge(i, K): [[ S.s := Election; STOP; S.g := fresh(); S.c := i; M := S.Up; S.Up := {} ]].
void InvitationTurn::merge(const NodeSet& found) {
  Inviting wait;
  for (NodeId j : found) wait.not_invited.push_back(j);
  for (const Member& j : state_.up)
    if (!found.contains(j.node)) wait.not_invited.push_back(j.node);
  wait.time_is_up = wait.not_invited.empty();
  stop({StopReason::merging, std::nullopt});
  state_.s = Status::Election;
  state_.d.reset();
  state_.up.clear();
  fresh();
  state_.procedure = std::move(wait);
  invite();
}

// for j in K: call Invitation(j, i, S.g); for j in M: call Invitation(j, i, S.g); wait a reasonable
// time for Accepts. The timer `accepts` measures that reasonable time.
void InvitationTurn::invite() {
  auto& wait = std::get<Inviting>(state_.procedure);
  const bool more = !wait.not_invited.empty();
  call_next(wait.invited, wait.not_invited, Invitation{*state_.g}, Bound::answer);
  if (more && wait.not_invited.empty()) actions_.emplace_back(Arm{Timer::accepts, 0});
  reorganize_when_all_accepted();
}

// Departs from the paper: the wait is over as soon as all nodes that have said that they will
// accept have done so.
void InvitationTurn::reorganize_when_all_accepted() {
  const auto* wait = std::get_if<Inviting>(&state_.procedure);
  if (!wait || state_.application != Activity::Idle) return;
  const bool all_called = wait->not_invited.empty() && wait->invited.empty();
  const bool all_here = repairs_.known_invitees && all_called && wait->coming.empty();
  if (all_here || wait->time_is_up) reorganize();
}

// S.s := Reorganization; S.d := reorganize().
void InvitationTurn::reorganize() {
  end_procedure();
  state_.s = Status::Reorganization;
  Members members = state_.up;
  const auto at = std::find_if(members.begin(), members.end(),
                               [&](const Member& j) { return config_.self < j.node; });
  members.insert(at, Member{config_.self, state_.safe.incarnation, holdings()});
  state_.procedure = Reorganizing{};
  compute_definition(std::move(members));
}

// for j in S.Up: call Ready(j, i, S.g, S.d). Departs from the paper: the coordinator starts its own
// application at the same time.
void InvitationTurn::make_ready() {
  MakingReady wait;
  for (const Member& j : state_.up) wait.not_readied.push_back(j.node);
  state_.procedure = std::move(wait);
  send_ready();
  if (side_by_side_ || state_.up.empty()) start_own();
}

void InvitationTurn::send_ready() {
  auto& wait = std::get<MakingReady>(state_.procedure);
  const auto letter_to = [this](NodeId j) {
    Ready letter{*state_.g, std::nullopt, *state_.d};
    if (repairs_.tags) letter.receiver = member(j)->incarnation;
    return letter;
  };
  call_next(wait.readied, wait.not_readied, letter_to, Bound::started);
}

// The definition is durable before the application starts with it.
void InvitationTurn::start_own() {
  state_.safe.assigned = Assigned{*state_.d, *state_.g};
  save();
  start_application();
}

// S.s := Normal, when all members and this node have started.
void InvitationTurn::normal_when_all_ready() {
  const auto* wait = std::get_if<MakingReady>(&state_.procedure);
  if (!wait || !wait->readied.empty() || !wait->not_readied.empty()) return;
  if (state_.application == Activity::Idle) return start_own();  // one by one: this node comes last
  if (state_.application != Activity::Working) return;
  state_.s = Status::Normal;
  forget_failures(!state_.up.empty());
  end_procedure();
}

// --- Timeout(i)

// Timeout(i): [[ k := S.c; gn := S.g ]]; if k = i: return; call AreYouThere(k, gn, i). Departs from
// the paper: the question tells the status of this node.
void InvitationTurn::timeout() {
  if (state_.s == Status::Down) return recovery(StopReason::recovering);
  if (coordinates() || !runs<Idle>()) return;
  const NodeId k = *state_.c;
  const CallNumber number = call(k, AreYouThere{*state_.g, state_.s}, Bound::answer);
  state_.procedure = Probing{number, k, *state_.g, state_.s};
}

}  // namespace muster::invitation
