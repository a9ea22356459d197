#include "hosts.hpp"

#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

namespace muster::test {

using namespace std::chrono_literals;

namespace {

class RealHost final : public Host {
 public:
  RealHost(const Style& style, const HostOptions& options)
      : cluster_(cluster_options(style, options)) {}

  void start(std::uint32_t id) override { cluster_.start(id); }
  void kill(std::uint32_t id) override { cluster_.kill(id); }
  void await(const std::string& what, const std::function<bool()>& predicate) override {
    cluster_.await(what, predicate);
  }
  std::optional<View> view(std::uint32_t id) const override {
    return cluster_.journals.view(NodeId{id});
  }
  std::vector<journal::Line> lines(std::uint32_t id) override {
    cluster_.journals.read_all();
    return cluster_.journals.lines(NodeId{id});
  }
  Script& script() override { return script_; }
  void judge() override { cluster_.judge(); }

 private:
  ClusterOptions cluster_options(const Style& style, const HostOptions& options) {
    ClusterOptions made{.nodes = options.nodes};
    if (options.reorganize_deadline)
      made.timings.T = made.timings.reorganize_deadline = *options.reorganize_deadline;
    if (options.short_back_off) made.timings = patient(1s, 250ms);
    made.application = [this, make = style.make](Services& services) {
      return make(script_, services);
    };
    return made;
  }

  Script script_{[this] { cluster_.bell.ring(); }};  // before the nodes that play it
  Cluster cluster_;
};

class LabHost final : public Host {
 public:
  LabHost(const Style& style, const HostOptions& options) : world_(world_options(style, options)) {
    for (NodeId node : world_.nodes()) world_.fail(node);
  }

  void start(std::uint32_t id) override { BOOST_REQUIRE(world_.restart(NodeId{id})); }
  void kill(std::uint32_t id) override { BOOST_REQUIRE(world_.fail(NodeId{id})); }
  void await(const std::string& what, const std::function<bool()>& predicate) override {
    BOOST_TEST_REQUIRE(world_.run_until(predicate, 60s), what << " never came");
  }
  std::optional<View> view(std::uint32_t id) const override {
    if (!world_.is_up(NodeId{id})) return std::nullopt;
    return world_.view(NodeId{id});
  }
  std::vector<journal::Line> lines(std::uint32_t id) override {
    std::vector<journal::Line> found;
    for (const journal::Line& line : world_.lines())
      if (const auto writer = writer_of(line); writer && writer->node == NodeId{id})
        found.push_back(line);
    return found;
  }
  Script& script() override { return script_; }
  void judge() override {
    const verify::Outcome outcome = world_.verify();
    BOOST_TEST(outcome.holds(), "the journal does not hold");
  }

 private:
  lab::WorldOptions world_options(const Style& style, const HostOptions& options) {
    lab::WorldOptions made;
    made.nodes = options.nodes;
    if (options.reorganize_deadline)
      made.timings.T = made.timings.reorganize_deadline = *options.reorganize_deadline;
    made.make_application = [this, make = style.make](Services& services) {
      return make(script_, services);
    };
    return made;
  }

  Script script_{[] {}};
  lab::World world_;
};

std::vector<Case> cases(const std::function<bool(const Case&)>& wanted) {
  std::vector<Case> found;
  for (const Style& style : styles)
    for (bool in_the_lab : {true, false})
      if (const Case made{style, in_the_lab}; (style.in_lab || !in_the_lab) && wanted(made))
        found.push_back(made);
  return found;
}

}  // namespace

void Host::join_all(std::uint32_t nodes) {
  std::set<std::uint32_t> all;
  for (std::uint32_t id = 1; id <= nodes; ++id) {
    start(id);
    all.insert(id);
  }
  await_group(all);
}

void Host::await_group(const std::set<std::uint32_t>& members) {
  NodeSet others;
  for (std::uint32_t id : members)
    if (id != *members.rbegin()) others.insert(NodeId{id});
  await("a group of " + to_text(others) + " and " + std::to_string(*members.rbegin()), [&] {
    const auto coordinator = view(*members.rbegin());
    if (!coordinator || coordinator->up != others) return false;
    return std::all_of(members.begin(), members.end(), [&](std::uint32_t id) {
      const auto member = view(id);
      return member && member->status == Status::Normal && member->group == coordinator->group &&
             member->application == Activity::Working;
    });
  });
}

std::vector<std::string> Host::failures(std::uint32_t id) {
  std::vector<std::string> all;
  for (const HookFailed& failed : events<HookFailed>(lines(id)))
    all.push_back(to_text(failed.hook) + ": " + failed.why);
  return all;
}

std::unique_ptr<Host> Case::host(HostOptions options) const {
  if (in_the_lab) return std::make_unique<LabHost>(style, options);
  return std::make_unique<RealHost>(style, options);
}

std::vector<Case> every_case() {
  return cases([](const Case&) { return true; });
}
std::vector<Case> cases_with_done() {
  return cases([](const Case& made) { return made.style.has_done; });
}
std::vector<Case> cases_that_wait() {
  return cases([](const Case& made) { return made.style.waits_in_lab || !made.in_the_lab; });
}
std::vector<Case> cases_in_the_lab() {
  return cases([](const Case& made) { return made.in_the_lab; });
}

}  // namespace muster::test
