#include "local.hpp"

#include <muster/values/ensure.hpp>
#include <muster/values/failure.hpp>
#include <muster/values/text.hpp>

#include <charconv>

namespace muster::lab::explored {

Definition write_task(const Task& task) {
  return {"task " + std::to_string(task.group.counter) + '.' +
          std::to_string(task.group.coordinator.value) + '.' + std::to_string(task.life.value)};
}

std::optional<Task> read_task(const Bytes& bytes) {
  const std::string& text = bytes.data;
  if (!text.starts_with("task ")) return std::nullopt;
  Task task;
  const char* end = text.data() + text.size();
  auto at = std::from_chars(text.data() + 5, end, task.group.counter);
  at = std::from_chars(at.ptr + 1, end, task.group.coordinator.value);
  std::from_chars(at.ptr + 1, end, task.life.value);
  return task;
}

namespace {

constexpr unsigned life_from_bit = 20;

}  // namespace

CallNumber on_its_way(const Bounds& bounds, Incarnation caller, CallNumber number) {
  if (bounds.canonical || bounds.channels == Channels::session) return number;
  return {caller.value << life_from_bit | number.value};
}

CallNumber at_the_caller(CallNumber on_its_way) {
  return {on_its_way.value & ((std::uint64_t{1} << life_from_bit) - 1)};
}

Timings timings_of_clocks() {
  Timings timings;
  timings.check_every = one_tick;
  timings.T = Duration{};
  timings.stop_deadline = one_tick;
  return timings;
}

void let_pass_tick(Local& node) {
  let_pass(node.state, one_tick);
  node.right = std::max(node.right - one_tick, Moment{});
}

// --- One step

void Host::take(const Event& event) {
  Actions actions;
  const auto before = view(config_, node_.state).group;
  try {
    actions = step(config_, node_.state, event);
  } catch (const ImpossibleState& impossible) {  // a struck line may lead to it
    wrong("sound-state", impossible.what());
    if (witness_) witness_->on_node_ended(node_, ExitCode::impossible_state, impossible.what());
    return fail();
  }
  if (witness_) witness_->step(node_, event, actions);
  for (const Action& action : actions) {
    if (performed_ == most_) fail();
    if (!node_.up) break;
    ++performed_;
    std::visit([this](const auto& what) { perform(what); }, action);
  }
  if (!node_.up) return;
  std::erase_if(node_.calls, [&](const auto& call) { return !awaits(node_.state, call.first); });
  accepted(before);
}

void Host::accepted(const std::optional<GroupNumber>& before) {
  const auto group = view(config_, node_.state).group;  // as the verifier sees it
  if (!group || group == before) return;
  const auto disagreement = group_grows(node_.node, node_.accepted, *group);
  if (disagreement) effects.wrong.push_back({"group-grows", *disagreement});
  node_.accepted = group;
}

void Host::wrong(const char* assertion, std::string why) {
  effects.wrong.push_back({assertion, {{node_.node}, "node " + to_text(node_.node) + ": " + why}});
}

void Host::perform(const Save& action) {
  node_.safe = action.safe;
  if (witness_) witness_->performed(node_);
}

void Host::perform(const Send& action) {
  const Letter& letter = action.letter;
  const bool session = bounds_.channels == Channels::session;
  if (action.bound) {
    OutCall& call = node_.calls[letter.call] = {letter, std::nullopt, false};
    if (session) return transmit(call);
  }
  if (session && !with(letter.to)) return;
  Put put{letter.to, node_.node, false, letter, std::nullopt};
  if (session) put.life = with(letter.to);
  if (action.bound) {
    Letter& sent = std::get<Letter>(put.item);
    sent.call = on_its_way(bounds_, letter.incarnation, letter.call);
    if (sent.by_quorum && sent.by_quorum->heard)
      sent.by_quorum->heard = on_its_way(bounds_, letter.incarnation, *sent.by_quorum->heard);
  }
  effects.puts.push_back(std::move(put));
}

// Sends a call to the life with which there is a session. Without a session the call waits for one.
void Host::transmit(OutCall& call) {
  const NodeId to = call.letter.to;
  const auto life = with(to);
  if (!life || call.given_up || call.sent_to == life) return;
  if (const auto named = life_called(call.letter); named && named != life) {
    call.given_up = true;
    effects.puts.push_back(
        {node_.node, to, false, NoAnswer{node_.node, to, call.letter.call}, std::nullopt});
    return;
  }
  call.sent_to = life;
  Letter letter = call.letter;
  // The incarnation was forgotten while the call waited.
  letter.incarnation = common(node_.state).safe.incarnation;
  effects.puts.push_back({to, node_.node, false, std::move(letter), life});
}

void Host::perform(const Arm& action) {
  node_.timers = static_cast<std::uint16_t>(node_.timers | bit(action.timer));
}

void Host::perform(const Disarm& action) {
  node_.timers = static_cast<std::uint16_t>(node_.timers & ~bit(action.timer));
}

void Host::perform(const Stop& action) {
  if (action.owed != node_.stop_owed)
    wrong("hook-grammar", action.owed ? "stop is called, although none is owed (P2)"
                                      : "stop is not called, although one is owed (P2)");
  if (witness_ && node_.works) witness_->revoked(node_, *node_.works);
  const bool begins = !node_.runs;
  node_.stops = Stops{action.ticket, action.owed};
  if (begins && action.owed && witness_)
    witness_->hook(node_, Hook::stop, journal::Edge::begin, action.ticket, node_.works, nullptr);
}

void Host::perform(const Reorganize& action) {
  if (node_.stop_owed || node_.runs || node_.stops || node_.works)
    wrong("hook-grammar", "reorganize begins before the node itself has stopped (P4)");
  const std::size_t majority = config_.nodes.size() / 2 + 1;
  const auto too_few = has_quorum(node_.node, action.members.size(), majority);
  if (too_few) effects.wrong.push_back({"quorum", *too_few});
  effects.reorganizes = action.members;
  node_.runs = Runs{Hook::reorganize, action.ticket, action.group};
  if (witness_)
    witness_->hook(node_, Hook::reorganize, journal::Edge::begin, action.ticket, action.group,
                   &action.members);
}

void Host::perform(const Start& action) {
  if (node_.stop_owed || node_.runs || node_.stops || node_.works)
    wrong("hook-grammar", "start begins before the stop of the previous task (P2)");
  const auto& assigned = node_.safe.assigned;
  if (!assigned || assigned->definition != action.definition || assigned->group != action.group)
    wrong("hook-grammar", "start begins with a definition that is not durable (P5)");
  node_.stop_owed = true;
  node_.works = action.group;
  node_.discounted = false;
  node_.runs = Runs{Hook::start, action.ticket, action.group};
  if (witness_)
    witness_->hook(node_, Hook::start, journal::Edge::begin, action.ticket, action.group, nullptr);
}

void Host::perform(const Leave& action) {
  if (witness_) witness_->on_node_ended(node_, ExitCode::ok, "it left");
  fail();
  node_.returns = action.cause != LeaveCause::asked;
}

// --- Lives

void Host::recover() {
  node_.up = true;
  node_.returns = false;
  ++node_.safe.incarnation.value;
  node_.stop_owed = true;
  take(Recovered{node_.safe});
}

void Host::fail() {
  Local after;
  after.node = node_.node;
  after.safe = node_.safe;
  after.copy = node_.copy;
  after.other = node_.other;
  after.accepted = node_.accepted;
  after.with.resize(node_.with.size());
  after.state = begin(config_);
  node_ = std::move(after);
}

void Host::pause() {
  node_.paused = node_.discounted = true;
}

void Host::resume() {
  node_.paused = false;
  take(Paused{config_.timings.T});
}

void Host::leave() {
  take(Leaving{});
}

void Host::meet(NodeId peer, Incarnation life) {
  with(peer) = life;
  for (auto& [number, call] : node_.calls)
    if (call.letter.to == peer) transmit(call);
  NodeSet differ = common(node_.state).met.differ;
  differ.erase(peer);
  tell_differing(std::move(differ));
}

void Host::change() {
  node_.other = !node_.other;
}

// The copy has no reserve of group numbers: its limit is the last number in use, as if the node had
// counted up to the stored limit.
void Host::copy() {
  node_.copy = node_.safe;
  node_.copy->incarnation = {};
  if (node_.up) node_.copy->counter_limit = common(node_.state).counter;
}

// The node gets a new incarnation, as if the copy had been made in its last life, or with
// --initialise. With a number that was used before, all nodes that have met that life would refuse
// it.
void Host::restore() {
  const Incarnation life = node_.safe.incarnation;
  node_.safe = *std::exchange(node_.copy, std::nullopt);
  node_.safe.incarnation = life;
  node_.accepted.reset();  // a restore violates assumption 4: nothing is claimed
}

// Reports the nodes that differ as muster/host/sessions.hpp does.
void Host::tell_differing(NodeSet differ) {
  if (!node_.up) return;
  Differing now{std::move(differ), {}};
  for (std::uint32_t i = 0; i < node_.with.size() && !now.differ.empty(); ++i)
    if (node_.with[i] && !now.differ.contains(NodeId{i + 1})) now.agree.insert(NodeId{i + 1});
  if (now != common(node_.state).met) take(now);
}

void Host::not_waited(NodeId by, CallNumber call) {
  visit_owed(node_.state, [&](NodeId to, CallNumber& owed) {
    if (to == by && owed == call) owed = {};
  });
  for (const Granted& known : granted(node_.state))
    if (known.coordinator.candidate == by && known.call == call) forget_granted(node_.state, call);
}

void Host::expire(Timer which) {
  perform(Disarm{which});
  take(Expired{which});
}

void Host::silence(CallNumber call) {
  const NodeId by = node_.calls.at(call).letter.to;
  take_item(by, NoAnswer{node_.node, by, call});
}

// A refused dial answers all calls that were made before it.
void Host::refuse(NodeId peer) {
  for (auto& [number, call] : node_.calls)
    if (call.letter.to == peer) call.given_up = true;
  effects.puts.push_back({node_.node, peer, false, Refusal{peer}, std::nullopt});
}

// --- Hooks

// A cancelled hook ends with its STOP. Its result is ignored.
void Host::end_hook(bool well) {
  const auto ran = std::exchange(node_.runs, std::nullopt);
  const auto say = [&](Hook hook, journal::Edge edge, Ticket ticket,
                       const std::optional<GroupNumber>& group) {
    if (witness_) witness_->hook(node_, hook, edge, ticket, group, nullptr);
  };
  if (node_.stops) {
    const Stops stop = *std::exchange(node_.stops, std::nullopt);
    if (ran) say(ran->hook, journal::Edge::failed, ran->ticket, ran->group);
    if (!stop.owed) return take(Stopped{stop.ticket, std::nullopt});
    if (ran) say(Hook::stop, journal::Edge::begin, stop.ticket, node_.works);
    say(Hook::stop, journal::Edge::end, stop.ticket, node_.works);
    node_.stop_owed = false;
    node_.works.reset();
    return take(Stopped{stop.ticket, Report{}});
  }
  say(ran->hook, well ? journal::Edge::end : journal::Edge::failed, ran->ticket, ran->group);
  if (!well)
    take(HookFailed{ran->ticket, ran->hook, "it failed"});
  else if (ran->hook == Hook::start)
    take(Started{ran->ticket});
  else
    take(Reorganized{ran->ticket, write_task({ran->group, node_.safe.incarnation})});
}

void Host::end_prompt_hooks() {
  while (bounds_.hooks == Hooks::prompt && node_.up && !node_.paused && (node_.runs || node_.stops))
    end_hook(true);
}

// --- Items from a peer

void Host::take(NodeId from, const Item& item) {
  std::visit([&](const auto& what) { take_item(from, what); }, item);
}

void Host::take_item(NodeId, const Letter& letter) {
  if (!is_answer(letter)) return take(Received{letter});
  const CallNumber number = at_the_caller(letter.call);
  const auto call = node_.calls.find(number);
  // It was given up.
  if (call == node_.calls.end() || call->second.letter.to != letter.from) return;
  const Incarnation life = common(node_.state).safe.incarnation;
  if (letter.call != on_its_way(bounds_, life, number)) return;  // to a former life
  node_.calls.erase(call);
  Letter here = letter;
  here.call = number;
  take(Received{std::move(here)});
}

// True if the end of that life leaves the call unanswered. In the shipped code, only a call that
// names the life stays unanswered then (protocols/bully/findings.md, "The end of a life").
bool Host::outlived(const OutCall& call, Incarnation life) const {
  if (const auto named = life_called(call.letter)) return named == life;
  const bool halts = std::holds_alternative<Halt>(call.letter.message);
  return !stands(config_.struck, halts ? Line::halt_outlives_life : Line::question_outlives_life);
}

void Host::take_item(NodeId peer, const NewLife& item) {
  std::vector<CallNumber> unanswered;
  if (const auto life = with(peer))
    for (const auto& [number, call] : node_.calls)
      if (call.letter.to == peer && outlived(call, *life)) unanswered.push_back(number);
  session_over(peer, unanswered, item.life);
}

void Host::take_item(NodeId peer, const Begins& item) {
  meet(peer, item.life);
}

void Host::take_item(NodeId peer, const Refusal&) {
  std::vector<CallNumber> unanswered;
  for (const auto& [number, call] : node_.calls)
    if (call.letter.to == peer && call.given_up) unanswered.push_back(number);
  session_over(peer, unanswered, std::nullopt, Unheard::refused);
  NodeSet differ = common(node_.state).met.differ;
  differ.erase(peer);
  tell_differing(std::move(differ));
}

void Host::take_item(NodeId peer, const Differs&) {
  NodeSet differ = common(node_.state).met.differ;
  differ.insert(peer);
  tell_differing(std::move(differ));
  if (!node_.up) return;
  std::vector<CallNumber> unanswered;
  for (const auto& [number, call] : node_.calls)
    if (call.letter.to == peer) unanswered.push_back(number);
  session_over(peer, unanswered, std::nullopt);
}

// Gives Failed first, then Unanswered for each of the calls, before any other event from that peer.
void Host::session_over(NodeId peer, const std::vector<CallNumber>& unanswered,
                        std::optional<Incarnation> next, Unheard how) {
  const auto life = std::exchange(with(peer), std::nullopt);
  if (life) take(Failed{peer, *life});
  bool first = true;
  for (auto call = unanswered.rbegin(); call != unanswered.rend(); ++call) {
    if (!node_.calls.contains(*call)) continue;
    if (std::exchange(first, false) && next)
      effects.puts.push_back({node_.node, peer, true, Begins{peer, *next}, std::nullopt});
    effects.puts.push_back(
        {node_.node, peer, true, NoAnswer{node_.node, peer, *call, how}, std::nullopt});
  }
  if (first && next) meet(peer, *next);
}

void Host::take_item(NodeId by, const NoAnswer& item) {
  if (node_.calls.erase(item.call) > 0) take(Unanswered{by, item.call, item.how});
}

}  // namespace muster::lab::explored
