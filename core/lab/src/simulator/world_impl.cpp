#include "world_impl.hpp"

#include <muster/host/hold_down.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <stdexcept>

namespace muster::lab {

using journal::FaultKind;
using simulated::SimulatedLife;

namespace {

/// An application that has no data and does no work. The definition of its task names the members.
class Idle final : public Application {
 public:
  void stop(StopContext, Done<Report> done) override { done({}); }
  void reorganize(Reorganization reorganization, Done<Definition> done) override {
    std::string members;
    for (const Member& member : reorganization.members)
      members += std::to_string(member.node.value) + ' ';
    done({members + "in group " + std::to_string(reorganization.group.counter)});
  }
  void start(Assignment, Done<> done) override { done(); }
};

WorldOptions completed(WorldOptions options) {
  if (!options.make_application)
    options.make_application = [](Services&) { return std::make_unique<Idle>(); };
  if (!options.most_delay) options.most_delay = options.timings.T / 24;
  if (!options.most_commit) options.most_commit = options.timings.T / 24;
  return options;
}

}  // namespace

World::Impl::Impl(WorldOptions chosen)
    : options(completed(std::move(chosen))), world(options), network(world), nodes_(options.nodes) {
  if (options.nodes == 0) throw std::invalid_argument("lab::World: a world has nodes, not 0");
  for (std::uint32_t id = 1; id <= options.nodes; ++id) ids.insert(NodeId{id});
  for (NodeId id : ids) {
    const Timings timings = options.timings_of ? options.timings_of(id) : options.timings;
    at(id).config = {{id,
                      ids,
                      options.repairs,
                      timings,
                      options.protocol,
                      options.invitation_repairs,
                      {},
                      options.options},
                     options.struck};
  }
  for (NodeId id : ids) restart(id);
}

World::Impl::Node& World::Impl::at(NodeId node) {
  if (node.value == 0 || node.value > nodes_.size())
    throw std::invalid_argument("lab::World: there is no node " + to_text(node) +
                                "; the nodes are 1 to " + std::to_string(nodes_.size()));
  return nodes_[node.value - 1];
}

World::Impl::~Impl() {
  for (NodeId id : ids)
    if (at(id).up) at(id).life->end(false);
}

// --- Lives

SimulatedLife::Handlers World::Impl::handlers(NodeId id) {
  SimulatedLife::Handlers handlers;
  handlers.left = [this, id](LeaveCause cause) { left(id, cause); };
  handlers.outlived = [this, id](const host::LifeClaims& life_claims) {
    outlived(id, life_claims);
  };
  handlers.fatal = [this, id](const Failure& failure) { fatal(id, failure); };
  handlers.failed_by_itself = [this, id](std::string why) {
    failures.push_back({world.agenda.now(), id, std::move(why), world.lines.size()});
  };
  handlers.point = [this, id](const char* what) { point(id, what); };
  handlers.seen = [this, id](const View& view) { at(id).view = view; };
  handlers.commit_time = [this, id] {
    if (!options.commit_time)
      return world.random.between(*options.most_commit / 16, *options.most_commit);
    const Duration time = options.commit_time(id);
    if (time > *options.most_commit) pause_for(id, time);
    return time;
  };
  handlers.fate = [this, id](Hook hook) {
    return options.hook_fate ? options.hook_fate(id, hook) : HookFate{};
  };
  return handlers;
}

bool World::Impl::restart(NodeId id) {
  Node& node = at(id);
  if (node.up || node.held_down) return false;
  if (options.open_storage) {
    node.storage.reset();  // closed before it is opened again
    node.storage = options.open_storage(id);
  } else if (!node.storage)
    node.storage = std::make_unique<simulated::Cells>();
  const HoldDown before(node.storage->read(HoldDown::cell).value());
  const Duration wait = before.wait(options.hold_down);
  node.held_down = wait > Duration::zero();
  if (!node.held_down)
    begin_process(id);
  else
    world.agenda.after(wait, [this, id] { begin_process(id); });
  return true;
}

// By assumptions 4 and 5 the incarnation is durable before another node hears of this life.
void World::Impl::begin_process(NodeId id) {
  Node& node = at(id);
  node.held_down = false;
  SafeState safe = node.storage->load().value();
  ++safe.incarnation.value;
  node.storage->save(safe).value();
  if (options.hold_down > Duration::zero())
    node.storage->write(HoldDown(node.storage->read(HoldDown::cell).value()).begins()).value();
  begin_life(id, std::move(safe));
  if (options.hold_down > Duration::zero())
    node.life->process().after(HoldDown::short_life,
                               [&node] { node.storage->write(HoldDown::has_lasted()).value(); });
}

// The journal gets a line for each reason for a pause, because the node can have written Paused in
// between.
void World::Impl::pause(NodeId id) {
  ++at(id).pauses;
  fault(FaultKind::paused, id);
}

void World::Impl::go_on(NodeId id) {
  if (--at(id).pauses == 0) fault(FaultKind::resumed, id);
}

// A commit for which T has no room counts as a pause, since others wait for it.
void World::Impl::pause_for(NodeId id, Duration time) {
  pause(id);
  at(id).life->process().disturb();
  // The pause ends after the work that the end of the commit causes, because another commit may
  // follow at once.
  world.agenda.after(time, [this, id, life = at(id).lives] {
    world.agenda.after({}, [this, id, life] {
      if (at(id).up && at(id).lives == life) go_on(id);
    });
  });
}

void World::Impl::begin_life(NodeId id, SafeState safe) {
  Node& node = at(id);
  node.up = true;
  node.pauses = 0;
  ++node.lives;
  node.view = View{};
  const std::uint32_t rate = options.clock_rate ? options.clock_rate(id) : 1000;
  node.life = std::make_shared<SimulatedLife>(
      std::make_shared<simulated::Process>(world, rate), network, node.config, node.cluster,
      options.make_application, *node.storage, std::move(safe), handlers(id));
  node.life->begin();
}

void World::Impl::begin_next_life(NodeId id, Incarnation above) {
  Node& node = at(id);
  SafeState safe = node.life->safe();
  safe.incarnation = {std::max(safe.incarnation.value, above.value) + 1};
  node.storage->save(safe).value();
  begin_life(id, std::move(safe));
}

void World::Impl::next_life_after(NodeId id, Duration delay, Incarnation above) {
  world.agenda.after(delay, [this, id, above, lives = at(id).lives] {
    if (!at(id).up && at(id).lives == lives) begin_next_life(id, above);
  });
}

// The life may be running now, so it is destroyed later.
void World::Impl::died(NodeId id) {
  Node& node = at(id);
  node.up = false;
  node.view = View{};
  world.agenda.soon([life = node.life] {});
}

void World::Impl::end_life(NodeId id, FaultKind kind, bool machine_off, bool in_the_store) {
  fault(kind, id);
  at(id).life->end(in_the_store);
  network.on_process_ended(id, machine_off, !machine_off && world.random.one_in(2));
  died(id);
  if (!options.restart_after) return;
  world.agenda.after(*options.restart_after, [this, id, lives = at(id).lives] {
    if (at(id).lives == lives) restart(id);
  });
}

// --- Ends that a life causes itself

void World::Impl::left(NodeId id, LeaveCause cause) {
  Node& node = at(id);
  node.life->end(true);
  network.on_process_ended(id, false, false);
  died(id);
  if (cause == LeaveCause::unsteady)
    return next_life_after(id, stays_away(node.unsteady, world.agenda.now(), holds(node.config)),
                           {});
  if (const auto back_after = node.life->back_after()) return next_life_after(id, *back_after, {});
  if (cause != LeaveCause::stood_back) return;
  if (node.life->was_normal()) node.stood_back = 0;
  const Duration back_off = std::chrono::seconds(1) * (1 << std::min(node.stood_back++, 8u));
  next_life_after(id, back_off, {});
}

void World::Impl::outlived(NodeId id, const host::LifeClaims& life_claims) {
  world.agenda.soon([this, id, life_claims, lives = at(id).lives] {
    Node& node = at(id);
    if (!node.up || node.lives != lives) return;
    if (options.initialise) {
      node.life->note_end({ExitCode::ok, "peers have seen a later life; a new one begins"});
      left(id, LeaveCause::asked);
      begin_next_life(id, host::latest_life(life_claims));
    } else if (host::later_life(life_claims, node.life->safe().incarnation)) {
      fatal(id, {ExitCode::storage_refused, "its safe storage is older than what peers have seen"});
    }
  });
}

void World::Impl::fatal(NodeId id, const Failure& failure) {
  if (!at(id).up) return;
  at(id).life->note_end(failure);
  end_life(id, FaultKind::ended, false, true);
}

void World::Impl::point(NodeId id, const char* what) {
  Node& node = at(id);
  ++node.points;
  if (!options.fail_at || options.fail_at->node != id || options.fail_at->point != node.points)
    return;
  options.fail_at.reset();
  crashed_at = what;
  const auto last = std::find_if(world.lines.rbegin(), world.lines.rend(), [&](const auto& line) {
    const auto* step = std::get_if<journal::Step>(&line);
    return step && step->stamp.node == id;
  });
  if (last != world.lines.rend())
    crashed_at += ", after " + to_json(std::get<journal::Step>(*last).event);
  end_life(id, FaultKind::killed, false, false);
}

// --- Faults

void World::Impl::fault(FaultKind kind, std::optional<NodeId> node, std::optional<NodeSet> from) {
  world.write(journal::Fault{world.agenda.now(), kind, node, std::move(from)});
}

bool World::Impl::wipe(NodeId id) {
  if (at(id).up || options.open_storage) return false;
  fault(FaultKind::wiped, id);
  at(id).storage = std::make_unique<simulated::Cells>();
  return true;
}

bool World::Impl::copy(NodeId id) {
  Node& node = at(id);
  const auto* cells = dynamic_cast<const simulated::Cells*>(node.storage.get());
  if (cells == nullptr) return false;
  node.copy = cells->copy();
  return true;
}

bool World::Impl::restore(NodeId id) {
  Node& node = at(id);
  if (node.up || !node.copy) return false;
  fault(FaultKind::restored, id);
  node.storage = node.copy->copy();
  return true;
}

bool World::Impl::cut(NodeId node, const NodeSet& from, bool both_ways) {
  bool any = false;
  for (NodeId other : from) {
    if (other == node) continue;
    any = true;
    network.cut(node, other);
    cuts_.insert({node, other});
    if (!both_ways) continue;
    network.cut(other, node);
    cuts_.insert({other, node});
  }
  if (any) fault(FaultKind::cut, node, from);
  return any;
}

bool World::Impl::refuse(NodeId a, NodeId b) {
  if (&at(a) == &at(b) || !network.refuse(a, b)) return false;
  fault(FaultKind::cut, a, NodeSet{b});
  return true;
}

bool World::Impl::heal() {
  const bool any_refused = network.refuse_no_more();
  if (cuts_.empty() && !any_refused) return false;
  fault(FaultKind::healed, std::nullopt);
  for (const auto& [from, to] : std::exchange(cuts_, {})) network.heal(from, to);
  return true;
}

bool World::Impl::is_normal() const {
  std::vector<Standing> standings;
  for (const Node& node : nodes_) {
    if (!node.up) continue;
    if (node.life->process().paused()) return false;
    standings.push_back(standing(node.config.self, node.view, std::nullopt));
  }
  return is_one_group(standings);
}

}  // namespace muster::lab
