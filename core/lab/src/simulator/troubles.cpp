#include "troubles.hpp"

#include <algorithm>

namespace muster::lab::simulated {

namespace {

constexpr std::array striking{
    Trouble::crash,     Trouble::crash_at_point, Trouble::crash_loop,  Trouble::outage,
    Trouble::power_cut, Trouble::wipe,           Trouble::pause,       Trouble::short_pause,
    Trouble::partition, Trouble::partial_cut,    Trouble::one_way_cut, Trouble::reset,
    Trouble::leave,     Trouble::differs,        Trouble::restore,     Trouble::lying_tag};

/// Messages that do not repeat their envelope. Such a message names a group or an election of
/// another node than the sender (in the Invitation: than the receiver), or a life that the sender
/// will never have.
std::vector<Message> lies(ProtocolName protocol, NodeId from, NodeId another, GroupNumber group) {
  const Incarnation far{highest_number - 1};
  const ElectionId of_another{another, far, 1};
  const ElectionId of_far_life{from, far, 1};
  switch (protocol) {
    case ProtocolName::bully:
      return {Halt{of_far_life}, Halt{of_another}, AreYouNormal{group},
              NewCoordinator{of_another, Incarnation{1}, group},
              Ready{of_another, Incarnation{1}, group, {}}};
    case ProtocolName::invitation:
      return {invitation::AreYouThere{group, Status::Normal}, invitation::Accept{group, {}, {}},
              invitation::Ready{group, std::nullopt, {}}};
    case ProtocolName::textbook:
      return {textbook::Coordinator{group, {}}};
  }
  return {};
}

bool is_of_links(Trouble trouble) {
  return trouble == Trouble::lasting_cut || trouble == Trouble::refusal;
}

}  // namespace

Troubles::Troubles(const Simulation& simulation, std::uint64_t seed,
                   std::function<void(NodeId)> forgets)
    : simulation_(simulation), forgets_(std::move(forgets)), random_(seed), random_links_(~seed) {
  nodes_ =
      simulation.least_nodes +
      static_cast<std::uint32_t>(random_.below(simulation.most_nodes - simulation.least_nodes + 1));
  // Mostly chooses few kinds of trouble, because one kind can hide the effects of another.
  // Sometimes it chooses many kinds.
  const std::uint64_t of_ten = 1 + random_.below(5);
  for (Trouble trouble : simulation.allowed)
    if ((is_of_links(trouble) ? random_links_ : random_).below(10) < of_ten)
      chosen_.insert(trouble);
  if (!simulation.given.empty()) chosen_ = simulation.allowed;
  for (Trouble trouble : striking)
    if (has(trouble)) strikes_.push_back(trouble);

  using std::chrono::milliseconds;
  constexpr std::array choices{milliseconds(20), milliseconds(50), milliseconds(100),
                               milliseconds(200)};
  const Duration T = timings_.T = choices[random_.below(choices.size())];
  timings_.check_every = some(5, 15);
  timings_.coordinator_timeout = timings_.check_every + T + some(0, 10);
  timings_.stop_deadline = some(20, 80);
  timings_.start_deadline = some(20, 80);
  timings_.reorganize_deadline = some(40, 160);
}

Duration Troubles::some(unsigned least_tenths, unsigned most_tenths) {
  return random_.between(timings_.T / 10 * least_tenths, timings_.T / 10 * most_tenths);
}

NodeId Troubles::any_node() {
  return {1 + static_cast<std::uint32_t>(random_.below(nodes_))};
}

WorldOptions Troubles::options() {
  WorldOptions options;
  options.nodes = nodes_;
  options.seed = random_.next();
  options.timings = timings_;
  options.protocol = simulation_.protocol;
  options.repairs = simulation_.repairs;
  options.invitation_repairs = simulation_.invitation_repairs;
  options.options = simulation_.options;
  options.make_application = simulation_.make_application;
  options.most_delay = timings_.T / (random_.one_in(2) ? 24 : 200);
  options.restart_after = some(5, 60);
  if (!simulation_.given.empty()) options.restart_after.reset();
  options.hook_fate = [this](NodeId, Hook hook) { return hook_fate(hook); };
  options.commit_time = [this](NodeId) { return commit_time(); };
  if (has(Trouble::clock_rate))
    options.clock_rate = [this](NodeId) {
      count(Trouble::clock_rate);
      const std::uint32_t off = most_off();
      return 1000 - off + static_cast<std::uint32_t>(random_.below(2 * off + 1));
    };
  return options;
}

// The largest error of a clock's rate, in thousandths: the configured drift if a quorum depends on
// it, and otherwise 50.
std::uint32_t Troubles::most_off() const {
  const Options& options = simulation_.options;
  return options.quorum == Quorum::majority ? options.clock_drift.millionths / 1000 : 50;
}

// --- Troubles of hooks and commits

HookFate Troubles::hook_fate(Hook hook) {
  HookFate fate;
  fate.begins_after = random_.between({}, timings_.T / 100);
  if (peace_) return fate;
  if (has(Trouble::slow_hook) && random_.one_in(3)) {
    count(Trouble::slow_hook);
    fate.begins_after = some(0, 8);
    fate.late = some(0, 9);
  }
  if (hook == Hook::stop) {
    if (has(Trouble::failing_stop) && random_.one_in(15)) {
      count(Trouble::failing_stop);
      fate.fails = "as was drawn";
    }
    return fate;
  }
  if (has(Trouble::failing_hook) && random_.one_in(6)) {
    count(Trouble::failing_hook);
    fate.fails = "as was drawn";
    fate.called = random_.one_in(2);
  }
  if (has(Trouble::overrunning_hook) && random_.one_in(10)) {
    count(Trouble::overrunning_hook);
    const Duration deadline =
        hook == Hook::start ? timings_.start_deadline : timings_.reorganize_deadline;
    fate.late = deadline + random_.between({}, timings_.stop_deadline * 5 / 4);
  }
  return fate;
}

Duration Troubles::commit_time() {
  if (!peace_ && has(Trouble::slow_commit) && random_.one_in(12)) {
    count(Trouble::slow_commit);
    return some(1, 20);
  }
  return random_.between(timings_.T / 400, timings_.T / 24);
}

// --- Troubles with a drawn time

void Troubles::befall(World& world) {
  world_ = &world;
  if (!simulation_.given.empty()) return do_as_given();
  const Duration end = random_.between(timings_.T * 40, timings_.T * 120);
  if (random_.one_in(2)) world.run_until_normal();
  for (;;) {
    const Duration next = world.now() + some(1, random_.one_in(3) ? 10 : 80);
    if (end < next) break;
    run_until(next);
    if (!strikes_.empty()) strike(strikes_[random_.below(strikes_.size())]);
  }
  run_until(end);
  peace_ = true;
  world.fail_at(std::nullopt);
  while (!undos_.empty()) {
    const auto first = undos_.begin();
    const auto undo = std::move(first->second);
    undos_.erase(first);
    undo();
  }
  // One change may have overtaken another, so all nodes get the last text.
  for (NodeId node : world.nodes()) restart_with(node, text_);
  world.heal();
  if (has(Trouble::lasting_cut) || has(Trouble::refusal)) keep_links_apart();
}

void Troubles::run_until(Duration time) {
  while (!undos_.empty() && undos_.begin()->first <= time) {
    const auto first = undos_.begin();
    const auto undo = std::move(first->second);
    const Duration then = first->first;
    undos_.erase(first);
    world_->run_for(then - world_->now());
    undo();
  }
  world_->run_for(time - world_->now());
  note_crash_at_point();
}

void Troubles::undo_after(Duration delay, std::function<void()> undo) {
  undos_.emplace(world_->now() + delay, std::move(undo));
}

void Troubles::note_crash_at_point() {
  if (!to_crash_ || world_->failed_at().empty()) return;
  count(Trouble::crash_at_point);
  to_crash_.reset();
}

void Troubles::crash(NodeId node, Duration back_after) {
  undo_after(back_after, [this, node] { world_->restart(node); });
}

void Troubles::crash_again_and_again(NodeId node) {
  for (int times = 1; times <= 4; ++times)
    undo_after(timings_.T * times / 2, [this, node] {
      world_->fail(node);
      world_->restart(node);
    });
}

void Troubles::heal_after(Duration delay) {
  undo_after(delay, [this] { world_->heal(); });
}

bool Troubles::fail_all() {
  bool any = false;
  for (NodeId each : world_->nodes()) {
    if (!world_->fail(each)) continue;
    any = true;
    crash(each, some(0, 40));
  }
  return any;
}

void Troubles::differ_or_change(NodeId node) {
  if (random_.one_in(3))
    change_all();
  else
    differ(node);
}

void Troubles::strike(Trouble trouble) {
  const NodeId node = any_node();
  const NodeId other = any_node();
  const Duration soon = random_.one_in(3) ? Duration{} : some(0, 60);
  bool done = false;
  switch (trouble) {
    case Trouble::crash:
      if ((done = world_->fail(node))) crash(node, soon);
      break;
    case Trouble::crash_at_point:
      if (to_crash_) break;
      to_crash_ = node;
      world_->fail_at(CrashPoint{node, world_->points(node) + 1 + random_.below(40)});
      break;
    case Trouble::crash_loop:
      crash_again_and_again(node);
      done = true;
      break;
    case Trouble::outage:
      done = fail_all();
      break;
    case Trouble::power_cut:
      if ((done = world_->power_cut(node))) crash(node, soon);
      break;
    case Trouble::wipe:
      world_->power_cut(node);
      if (!(done = world_->wipe(node))) break;
      forgets_(node);
      crash(node, soon);
      break;
    case Trouble::pause:
    case Trouble::short_pause:
      return pause(trouble);
    case Trouble::partition:
      partition();
      done = true;
      break;
    case Trouble::partial_cut:
      if ((done = world_->cut(node, NodeSet{other}))) heal_after(some(2, 80));
      break;
    case Trouble::one_way_cut:
      if ((done = world_->cut_one_way(node, other))) heal_after(some(2, 80));
      break;
    case Trouble::reset:
      done = node != other && world_->reset(node, other);
      break;
    case Trouble::leave:
      if ((done = world_->leave(node))) crash(node, some(5, 100));
      break;
    case Trouble::differs:
      differ_or_change(node);
      done = true;
      break;
    case Trouble::restore:
      if (world_->copy(node)) undo_after(some(5, 80), [this, node, soon] { restore(node, soon); });
      break;
    case Trouble::lying_tag:
      world_->forge(node, other, lie(node, other));
      break;  // a forged letter is counted when it arrives
    case Trouble::slow_hook:
    case Trouble::failing_hook:
    case Trouble::overrunning_hook:
    case Trouble::failing_stop:
    case Trouble::slow_commit:
    case Trouble::clock_rate:
    case Trouble::lasting_cut:
    case Trouble::refusal:
      break;  // these are drawn elsewhere
  }
  if (done) count(trouble);
}

// A forged message. In half of the cases it names the receiver's group or the next group. With two
// nodes there is no third, so the letter names a node that does not exist.
Message Troubles::lie(NodeId from, NodeId to) {
  const std::uint32_t names = std::max(nodes_, 3U);
  NodeId another = any_node();
  while (another == from || another == to) another.value = another.value % names + 1;
  GroupNumber group = world_->view(to).group.value_or(GroupNumber{});
  if (random_.one_in(2)) ++group.counter;
  if (group.coordinator == from || group.coordinator == to || random_.one_in(2))
    group.coordinator = another;
  const std::vector<Message> all = lies(simulation_.protocol, from, another, group);
  return all[random_.below(all.size())];
}

void Troubles::restart_with(NodeId node, const std::string& text) {
  if (std::exchange(texts_[node], text) == text) return;
  world_->reconfigure(node, text);
  world_->fail(node);
  world_->restart(node);
}

void Troubles::restore(NodeId node, Duration back_after) {
  world_->power_cut(node);
  if (world_->restore(node)) {
    count(Trouble::restore);
    forgets_(node);
  }
  crash(node, back_after);
}

// One node gets a differing configuration, until the mistake is corrected.
void Troubles::differ(NodeId node) {
  restart_with(node, text_ + "mistaken=yes\n");
  undo_after(some(2, 120), [this, node] { restart_with(node, text_); });
}

// A rolling change of the configuration of all nodes. In half of the cases the highest node is the
// last.
void Troubles::change_all() {
  text_ = "change=" + std::to_string(++changes_) + "\n";
  const bool upwards = random_.one_in(2);
  const Duration pace = some(2, 60);
  for (std::uint32_t i = 1; i <= nodes_; ++i)
    undo_after(pace * static_cast<int>(upwards ? i : nodes_ + 1 - i),
               [this, node = NodeId{i}, text = text_] { restart_with(node, text); });
}

void Troubles::pause(Trouble trouble) {
  const NodeId node = any_node();
  if (!world_->pause(node)) return;
  count(trouble);
  const Duration gap = trouble == Trouble::pause ? some(6, 60) : some(0, 4);
  undo_after(gap, [this, node] { world_->resume(node); });
}

void Troubles::partition() {
  NodeSet inside;
  NodeSet outside;
  inside.insert(any_node());
  for (NodeId node : world_->nodes())
    if (!inside.contains(node)) (random_.one_in(2) ? inside : outside).insert(node);
  for (NodeId node : inside) world_->cut(node, outside);
  heal_after(some(5, 120));
}

}  // namespace muster::lab::simulated
