#include <muster/host/services.hpp>
#include <muster/lab/world.hpp>
#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>

// The requests of an application to its node, and its statements about itself, in the lab.

namespace muster::test {
namespace {

using namespace std::chrono_literals;

/// An application that gives its services to the test, and calls a function of the test in each
/// `start`.
struct Speaking final : Application {
  using AtStart = std::function<void(Services&)>;
  Speaking(Services& given, const AtStart& what) : services(given), at_start(what) {}
  void stop(StopContext, Done<Report> done) override { done({}); }
  void reorganize(Reorganization, Done<Definition> done) override { done({"task"}); }
  void start(Assignment, Done<> done) override {
    if (at_start) at_start(services);
    done();
  }
  Services& services;
  const AtStart& at_start;
};

/// A world of such applications, in one group.
struct Speakers {
  explicit Speakers(std::uint32_t nodes = 3)
      : world(nodes, 1,
              [this](Services& given) { return std::make_unique<Speaking>(given, at_start); }) {}
  Services& of(std::uint32_t id) {
    return dynamic_cast<Speaking&>(*world.application(NodeId{id})).services;
  }
  /// Runs until all nodes that are up form a group that is later than the present group of node
  /// `id`.
  bool regroup(std::uint32_t id) {
    const auto before = world.view(NodeId{id}).group;
    return world.run_until([&] { return world.view(NodeId{id}).group > before; }, 5s) &&
           world.run_until_normal();
  }
  /// Makes that node step down, and runs until the node knows that it has stepped down. The node
  /// has not left yet.
  void begin_to_step_down(std::uint32_t id, Duration back_after) {
    const auto known = [&, from = world.lines().size()] {
      return std::any_of(world.lines().begin() + static_cast<std::ptrdiff_t>(from),
                         world.lines().end(), [](const journal::Line& line) {
                           const auto* step = std::get_if<journal::Step>(&line);
                           return step && std::holds_alternative<Leaving>(step->event);
                         });
    };
    of(id).step_down(back_after);
    BOOST_REQUIRE(world.run_until(known, 1s));
    BOOST_REQUIRE(world.is_up(NodeId{id}));
  }
  View view(std::uint32_t id) { return world.view(NodeId{id}); }

  Speaking::AtStart at_start;
  lab::World world;
};

BOOST_AUTO_TEST_CASE(an_application_has_the_group_made_anew) {
  Speakers all;
  BOOST_REQUIRE(all.world.run_until_normal());
  for (const std::uint32_t id : {1u, 3u}) {
    all.of(id).elect("the disk of " + std::to_string(id) + " is new");
    BOOST_TEST(all.regroup(1));
    BOOST_TEST(all.view(1).coordinator.value().value == 3u);
    BOOST_TEST(all.world.journal().find("the disk of " + std::to_string(id) + " is new") !=
               std::string::npos);
  }
  const auto group = all.view(1).group;
  all.world.run_for(10s);
  BOOST_TEST(to_text(all.view(1).group) == to_text(group));  // each asked once
  BOOST_TEST(all.world.verify().holds());
}

BOOST_AUTO_TEST_CASE(an_application_steps_down_and_comes_back_after_that_time) {
  Speakers all;
  BOOST_REQUIRE(all.world.run_until_normal());
  const Incarnation before = all.world.safe(NodeId{3}).incarnation;
  all.of(3).step_down(7s);
  BOOST_TEST(all.regroup(1));
  BOOST_TEST(all.view(1).coordinator.value().value == 2u);
  BOOST_REQUIRE(!all.world.is_up(NodeId{3}));
  BOOST_TEST(!all.world.run_until([&] { return all.world.is_up(NodeId{3}); }, 6500ms));
  BOOST_TEST(all.world.run_until([&] { return all.world.is_up(NodeId{3}); }, 500ms));
  BOOST_TEST(all.world.run_until([&] { return all.view(1).coordinator == NodeId{3}; }, 5s));
  BOOST_TEST(all.world.run_until_normal());
  BOOST_TEST(all.world.safe(NodeId{3}).incarnation.value == before.value + 1);
  BOOST_TEST(all.world.verify().holds());
}

BOOST_AUTO_TEST_CASE(a_node_is_out_for_no_less_than_nothing_and_for_a_year_at_most) {
  BOOST_TEST(time_out(-1h) == Duration::zero());
  Speakers all;
  BOOST_REQUIRE(all.world.run_until_normal());
  const auto back = [&] { return all.world.is_up(NodeId{3}); };
  all.of(3).step_down(-1h);
  BOOST_TEST(all.regroup(3));
  all.of(3).step_down(Duration::max());
  BOOST_TEST(all.regroup(1));
  BOOST_REQUIRE(!back());
  const Duration out_since = all.world.now();
  all.world.fail(NodeId{1});  // no other node calls node 3 for a year
  all.world.fail(NodeId{2});
  BOOST_TEST(all.world.run_until(back, 366 * 24h));
  BOOST_TEST(all.world.now() - out_since > 364 * 24h);
}

BOOST_AUTO_TEST_CASE(who_is_killed_on_its_way_out_or_is_wanted_out_does_not_come_back_by_itself) {
  Speakers all;
  BOOST_REQUIRE(all.world.run_until_normal());
  all.begin_to_step_down(3, 1s);
  BOOST_TEST(all.world.fail(NodeId{3}));
  all.world.restart(NodeId{3});
  BOOST_TEST(all.regroup(3));

  BOOST_TEST(all.world.leave(NodeId{3}));
  BOOST_TEST(all.regroup(1));
  all.world.run_for(10s);
  BOOST_TEST(!all.world.is_up(NodeId{3}));

  all.begin_to_step_down(2, 1s);
  BOOST_TEST(all.world.leave(NodeId{2}));
  BOOST_TEST(all.regroup(1));
  all.world.run_for(10s);
  BOOST_TEST(!all.world.is_up(NodeId{2}));

  all.of(1).step_down(1s);
  BOOST_TEST(all.world.leave(NodeId{1}));  // the node has not yet stepped down
  all.world.run_for(10s);
  BOOST_TEST(!all.world.is_up(NodeId{1}));
  BOOST_TEST(all.world.verify().holds());
}

BOOST_AUTO_TEST_CASE(a_role_is_shown_until_the_next_stop_and_the_text_for_longer) {
  Speakers all(2);
  bool shows = true;
  all.at_start = [&](Services& services) {
    if (shows) services.show({{{"primary", true}, {"replica", false}}, "open\n"});
  };
  BOOST_REQUIRE(all.world.run_until_normal());
  const auto shown = [&](std::uint32_t id) { return to_text(all.world.shown(NodeId{id})); };
  const std::string has = to_text(Shown{{{"primary", true}, {"replica", false}}, "open?"});
  const std::string had = to_text(Shown{{{"primary", false}, {"replica", false}}, "open?"});
  BOOST_TEST(shown(1) == has);
  BOOST_TEST(shown(2) == has);

  shows = false;
  all.of(1).elect("to see");
  BOOST_TEST(all.world.run_until([&] { return all.view(1).status != Status::Normal; }, 5s));
  BOOST_TEST(shown(1) == had);
  BOOST_TEST(all.world.run_until_normal());
  BOOST_TEST(shown(1) == had);
  BOOST_TEST(shown(2) == had);

  all.of(1).show({{{"primary", true}, {"replica", false}}, "open\n"});
  BOOST_TEST(shown(1) == has);
  all.world.pause(NodeId{1});
  all.world.run_for(all.world.config(NodeId{1}).timings.T);
  BOOST_TEST(shown(1) == had);  // its permits are over, but the node has not noticed its pause

  all.of(2).show({{}, std::string(Shown::longest_text + 1, 'x')});
  BOOST_TEST(shown(2) == to_text(Shown{{}, std::string(Shown::longest_text, 'x') + "..."}));
  all.world.fail(NodeId{2});
  BOOST_TEST(shown(2) == to_text(Shown{}));
}

BOOST_AUTO_TEST_CASE(a_process_that_shows_no_role_ends) {
  Speakers all(2);
  BOOST_REQUIRE(all.world.run_until_normal());
  all.of(1).show({{{"Primary", true}}, {}});
  all.world.run_for(1ms);
  BOOST_TEST(!all.world.is_up(NodeId{1}));
  BOOST_TEST(
      all.world.journal().find("the application shows the role \\\"Primary\\\": a role has") !=
      std::string::npos);
}

}  // namespace
}  // namespace muster::test
