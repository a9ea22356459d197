#include <muster/lab/world.hpp>

#include "world_impl.hpp"

#include <muster/claims/verify.hpp>
#include <muster/host/services.hpp>
#include <muster/journal/journal.hpp>
#include <muster/values/text.hpp>

namespace muster::lab {

using journal::FaultKind;

namespace {

WorldOptions options_of(std::uint32_t nodes, std::uint64_t seed, MakeApplication make) {
  WorldOptions options;
  options.nodes = nodes;
  options.seed = seed;
  options.make_application = std::move(make);
  return options;
}

}  // namespace

World::World(std::uint32_t nodes, std::uint64_t seed, MakeApplication make_application)
    : World(options_of(nodes, seed, std::move(make_application))) {}

World::World(WorldOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

World::~World() = default;

// --- Time

Duration World::now() const {
  return impl_->world.agenda.now();
}

void World::run_for(Duration duration) {
  const Duration until = now() + duration;
  while (impl_->world.agenda.run_next(until)) {
  }
  impl_->world.agenda.pass(until);
}

bool World::run_until(const std::function<bool()>& reached, Duration within) {
  const Duration until = now() + within;
  while (!reached())
    if (!impl_->world.agenda.run_next(until)) {
      impl_->world.agenda.pass(until);
      return reached();
    }
  return true;
}

bool World::run_until_normal() {
  const Duration bound = settling_bound(impl_->at(NodeId{1}).config);
  return run_until([this] { return is_normal(); }, 2 * bound);
}

// --- Faults

bool World::fail(NodeId node) {
  if (!is_up(node)) return false;
  impl_->end_life(node, FaultKind::killed, false, impl_->world.random.one_in(2));
  return true;
}

bool World::restart(NodeId node) {
  return impl_->restart(node);
}

bool World::power_cut(NodeId node) {
  if (!is_up(node)) return false;
  impl_->end_life(node, FaultKind::power_cut, true, impl_->world.random.one_in(2));
  return true;
}

bool World::wipe(NodeId node) {
  return impl_->wipe(node);
}

bool World::copy(NodeId node) {
  return impl_->copy(node);
}

bool World::restore(NodeId node) {
  return impl_->restore(node);
}

bool World::pause(NodeId node) {
  if (!is_up(node) || is_paused(node)) return false;
  impl_->pause(node);
  impl_->at(node).life->pause();
  return true;
}

bool World::resume(NodeId node) {
  if (!is_paused(node)) return false;
  impl_->go_on(node);
  impl_->at(node).life->resume();
  return true;
}

bool World::leave(NodeId node) {
  if (!is_up(node) || is_paused(node)) return false;
  impl_->fault(FaultKind::terminated, node);
  impl_->at(node).life->leave();
  return true;
}

void World::reconfigure(NodeId node, std::string text) {
  impl_->at(node).cluster = std::move(text);
}

bool World::reset(NodeId a, NodeId b) {
  if (!impl_->network.reset(a, b)) return false;
  impl_->fault(FaultKind::reset, a, NodeSet{b});
  return true;
}

// The receiver closes the connection when the forged letter arrives.
bool World::forge(NodeId from, NodeId to, Message message) {
  if (from == to || !is_up(from) || !is_up(to)) return false;
  impl_->at(from).life->forge(to, std::move(message));
  return true;
}

bool World::cut(NodeId node, NodeSet from) {
  return impl_->cut(node, from, true);
}

bool World::cut_one_way(NodeId from, NodeId to) {
  return impl_->cut(from, NodeSet{to}, false);
}

bool World::heal() {
  return impl_->heal();
}

bool World::refuse(NodeId a, NodeId b) {
  return impl_->refuse(a, b);
}

void World::fail_at(std::optional<CrashPoint> point) {
  impl_->options.fail_at = point;
  impl_->crashed_at.clear();
}

// --- Observers

const NodeSet& World::nodes() const {
  return impl_->ids;
}

const Config& World::config(NodeId node) const {
  return impl_->at(node).config;
}

bool World::is_up(NodeId node) const {
  return impl_->at(node).up;
}

bool World::is_paused(NodeId node) const {
  return is_up(node) && impl_->at(node).life->process().paused();
}

Shown World::shown(NodeId node) const {
  const auto& of = impl_->at(node);
  return of.up ? of.life->shown() : Shown{};
}

View World::view(NodeId node) const {
  return impl_->at(node).view;
}

const Protocol& World::state(NodeId node) const {
  return impl_->at(node).life->protocol();
}

SafeState World::safe(NodeId node) const {
  return impl_->at(node).storage->load().value();
}

std::map<std::string, Bytes> World::cells(NodeId node) const {
  std::map<std::string, Bytes> found;
  impl_->at(node)
      .storage
      ->scan("",
             [&](std::string_view key, const Bytes& value) {
               if (!key.starts_with(own_cells)) found.emplace(key, value);
             })
      .value();
  return found;
}

Application* World::application(NodeId node) const {
  return is_up(node) ? impl_->at(node).life->application() : nullptr;
}

bool World::is_normal() const {
  return impl_->is_normal();
}

const std::deque<ApplicationFailure>& World::application_failures() const {
  return impl_->failures;
}

std::uint64_t World::points(NodeId node) const {
  return impl_->at(node).points;
}

std::uint64_t World::forged() const {
  return impl_->world.forged;
}

std::uint64_t World::drained() const {
  return impl_->world.drained;
}

const std::string& World::failed_at() const {
  return impl_->crashed_at;
}

void World::broken(std::string what) {
  impl_->world.write(journal::Finding{now(), remark_of(what)});
}

const std::deque<journal::Line>& World::lines() const {
  return impl_->world.lines;
}

std::deque<journal::Line> World::take_lines() {
  return std::exchange(impl_->world.lines, {});
}

std::string World::journal() const {
  std::string text;
  for (const journal::Line& line : lines()) journal::append_line(text, line);
  return text;
}

verify::Outcome World::verify() const {
  return verify_lines(lines(), "journal");
}

verify::Outcome verify_lines(const std::deque<journal::Line>& lines, const std::string& name,
                             const std::function<void(const verify::NotClaimed&)>& not_claimed,
                             const std::vector<std::string>& asked) {
  verify::Foreseer foreseer;
  for (const journal::Line& line : lines) foreseer.take(line);
  verify::Verifier verifier(foreseer.finish(), [&](const verify::NotClaimed& time) {
    if (not_claimed) not_claimed(time);
  });
  verifier.ask(asked);
  verify::Place place{name, 0};
  for (const journal::Line& line : lines) {
    ++place.line;
    verifier.take(line, place).value();
  }
  return verifier.finish();
}

}  // namespace muster::lab
