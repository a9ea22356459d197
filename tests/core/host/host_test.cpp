#include "../hooks/host.hpp"
#include "words.hpp"

#include <muster/host/host.hpp>
#include <muster/values/text.hpp>

#include <algorithm>

/// One life of node 1, in a cluster of one node or of three nodes. The test is its driver.

using namespace muster;
using namespace std::chrono_literals;
using test::Words;

namespace {

Config config_of(std::uint32_t nodes, Repairs repairs) {
  Config config;
  config.repairs = repairs;
  config.self = NodeId{1};
  for (std::uint32_t id = 1; id <= nodes; ++id) config.nodes.insert(NodeId{id});
  config.timings.T = 100ms;
  return config;
}

SafeState safe_of(std::uint64_t incarnation) {
  SafeState safe;
  safe.incarnation = {incarnation};
  return safe;
}

/// A driver that records its instructions as words. Only `clock` moves its clock.
struct HostedLife : host::Driver {
  explicit HostedLife(std::uint32_t nodes = 3, Repairs repairs = {})
      : config(config_of(nodes, repairs)) {}

  [[nodiscard]] Duration now() override { return clock; }
  Duration paused_for() override { return std::exchange(gap, {}); }
  void send(const Letter& letter, std::optional<Duration>) override {
    said.push_back("send " + to_text(letter.to) + ":" + to_text(letter.call));
  }
  void keep_only(const std::function<bool(CallNumber)>&) override {}
  void arm(Timer, Duration, Inbox::Arming) override {}
  void save(const SafeState& safe) override {
    said.emplace_back("save");
    assigned = safe.assigned.has_value();
  }
  void permit_work(Duration, std::optional<Moment>) override { permitted = true; }
  void left(LeaveCause) override {
    said.emplace_back("left");
    host.end();
  }
  void stepped(const Event& event, const Actions&, const View&) override {
    if (const auto* received = std::get_if<Received>(&event)) told.push_back(received->instance);
    const std::string text = to_text(event);
    said.push_back(text.substr(0, text.find('{')));
  }
  void save_performed() override { said.emplace_back("saved"); }

  Words heard() { return std::exchange(said, {}); }
  void expect(const Words& words) { BOOST_TEST(heard() == words); }
  void give(Event event) {
    host.put(std::move(event));
    host.turn();
  }
  /// Ends the running hook and tells the host so.
  void end_hook(Bytes value) {
    if (auto done = std::exchange(hooks.played.bytes, {})) (*done)(std::move(value));
    if (auto done = std::exchange(hooks.played.done, {})) (*done)();
    hooks.look();
    for (Event& event : std::exchange(hooks.events, {})) host.put(std::move(event));
    host.turn();
  }
  /// Runs the node, alone in its group, until it saves the definition for its `start`.
  void begin_to_work() {
    host.begin();
    while (!assigned) {
      if (said.back() == "save") host.saved();
      end_hook(hooks.played.reorganized ? Bytes{"task"} : Bytes{"held"});
    }
  }

  Duration clock{};
  Duration gap{};
  bool permitted = false;
  bool assigned = false;
  Words said;
  std::vector<Instance> told;  ///< for each received letter, the instance of its sender
  Config config;
  test::Host hooks;
  host::Host host{config, safe_of(7), 50ms, HookRunner::Limits{config.timings}, *this, hooks};
};

struct AboutToWork : HostedLife {
  AboutToWork() : HostedLife(1) { begin_to_work(); }
};

Letter are_you_there(std::uint64_t incarnation, std::uint64_t call) {
  return {NodeId{2}, Incarnation{incarnation}, NodeId{1}, CallNumber{call}, AreYouThere{}};
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(a_host, HostedLife)

BOOST_AUTO_TEST_CASE(begins_with_recovered_whatever_has_come_before) {
  give(Received{are_you_there(1, 1)});
  expect({});
  host.begin();
  const Words words = heard();
  BOOST_REQUIRE(words.size() >= 2);
  BOOST_TEST(words.front() == "Recovered");
  BOOST_TEST(std::count(words.begin(), words.end(), "Received") == 1);
}

BOOST_FIXTURE_TEST_CASE(performs_what_follows_a_save_when_it_is_durable, AboutToWork) {
  BOOST_TEST(heard().back() == "save");
  BOOST_TEST(!hooks.played.started.has_value());
  host.saved();
  expect({"saved"});
  BOOST_TEST(hooks.played.started.has_value());
}

BOOST_FIXTURE_TEST_CASE(gives_nothing_to_step_while_it_saves, AboutToWork) {
  heard();
  give(ElectionAsked{"why not"});
  expect({});
  host.saved();
  const Words words = heard();
  BOOST_REQUIRE(words.size() >= 2);
  BOOST_TEST(words.front() == "saved");
  BOOST_TEST(words.at(1) == "ElectionAsked");
}

BOOST_FIXTURE_TEST_CASE(permits_nothing_from_a_pause_until_all_of_it_was_performed, AboutToWork) {
  host.saved();
  end_hook({});
  BOOST_TEST(host.was_normal());
  heard();
  permitted = false;
  gap = 51ms;
  host.together([&] {
    BOOST_TEST(!permitted);
    host.put(ElectionAsked{"why not"});
  });
  BOOST_TEST(heard().front() == "Paused");
  BOOST_TEST(permitted);
}

// If a Save comes before the Stop, permits are revoked only after that Save. But no permit is valid
// while the Save lasts.
BOOST_AUTO_TEST_CASE(permits_nothing_before_a_save_that_a_pause_leads_to_is_durable) {
  Repairs repairs;
  repairs.save_promises_only = false;
  HostedLife life(1, repairs);
  life.begin_to_work();
  life.host.saved();
  life.end_hook({});
  life.host.saved();
  BOOST_TEST(life.host.was_normal());
  life.heard();
  life.permitted = false;
  life.gap = 51ms;
  life.host.together([] {});
  life.expect({"Paused", "save"});
  life.host.together([] {});
  BOOST_TEST(!life.permitted);
  life.host.saved();
  BOOST_TEST(life.permitted);
}

BOOST_FIXTURE_TEST_CASE(tells_of_a_pause_before_what_waited_for_too_long, AboutToWork) {
  host.saved();
  heard();
  host.put(ElectionAsked{"why not"});
  clock = 51ms;
  host.turn();
  BOOST_TEST(heard().front() == "Paused");
}

BOOST_AUTO_TEST_CASE(sends_no_answer_whose_number_a_newer_call_has_that_waits) {
  host.begin();
  heard();
  host.together([&] {
    host.put(Received{are_you_there(1, 4)});
    host.put(Received{are_you_there(2, 4)});
  });
  const Words words = heard();
  BOOST_TEST(std::count(words.begin(), words.end(), "Received") == 2);
  BOOST_TEST(std::count(words.begin(), words.end(), "send 2:4") == 1);
}

BOOST_AUTO_TEST_CASE(tells_of_which_instance_a_life_is_until_step_knows) {
  host.begin();
  for (std::uint64_t call = 1; call <= 4; ++call)
    give(Received{are_you_there((call + 1) / 2, call), Instance{call < 3 ? 10u : 20u}});
  const std::vector<Instance> expected{{10}, {}, {20}, {}};
  BOOST_TEST(told == expected);
  const Common& known = common(host.protocol());
  BOOST_TEST(known.instances == (std::map<NodeId, Instance>{{NodeId{2}, {20}}}));
  give(Received{are_you_there(3, 5)});
  BOOST_TEST(known.seen.at(NodeId{2}).value == 3u);
  BOOST_TEST(known.instances.empty());
}

BOOST_FIXTURE_TEST_CASE(drops_whatever_comes_when_it_has_ended, AboutToWork) {
  heard();
  host.end();
  host.saved();
  give(Leaving{});
  host.expired(Timer::check, 1);
  expect({});
  BOOST_TEST(!hooks.played.started.has_value());
}

BOOST_AUTO_TEST_CASE(is_asked_by_its_group_alone) {
  HostedLife life(1);
  life.host.begin();
  std::string why;
  const std::uint64_t number =
      life.host.asked({NodeId{1}, GroupNumber{9, NodeId{1}}, false, Bytes{}},
                      [&](const Done<Bytes>::Outcome& outcome) { why = outcome.error(); });
  BOOST_TEST(number == 0);
  BOOST_TEST(why == "it is no member of that group");
}

BOOST_AUTO_TEST_SUITE_END()
