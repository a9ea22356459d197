#include <muster/lab/world.hpp>
#include <muster/typed.hpp>

#include <boost/test/unit_test.hpp>

// Reports and definitions as values. If the bytes are not a value of the application's present
// type, the hook fails and names the type.

namespace muster::test {

struct Stock {
  std::uint32_t boxes{};
  std::vector<std::string> names;
};
MUSTER_DESCRIBE(Stock, boxes, names);

namespace {

using namespace std::chrono_literals;

template <std::uint32_t Version>
struct Storekeeper final : Typed<Stock, Stock, Version> {
  void cease(StopContext, Done<Stock> done) override { done(Stock{7, {"a", "b"}}); }
  void define(Reorganization, std::map<NodeId, Stock> reports, Done<Stock> done) override {
    Stock all;
    for (const auto& [node, stock] : reports) all.boxes += stock.boxes;
    done(all);
  }
  void install(Assignment, Stock definition, Done<> done) override {
    installed = definition.boxes;
    done();
  }
  std::uint32_t installed = 0;
};

std::string why_start_fails(const std::string& definition) {
  Storekeeper<2> keeper;
  std::string why = "it does not fail";
  Assignment assignment;
  assignment.group = {5, NodeId{3}};
  assignment.definition.data = definition;
  keeper.start(assignment, Done<>([&](const auto& outcome) {
                 if (!outcome) why = outcome.error();
               }));
  return why;
}

std::string why_reorganize_fails(const std::map<NodeId, std::string>& reports) {
  Storekeeper<2> keeper;
  std::string why = "it does not fail";
  Reorganization all;
  for (const auto& [node, report] : reports) {
    Member member;
    member.node = node;
    member.holdings.report.data = report;
    all.members.push_back(member);
  }
  keeper.reorganize(all, Done<Definition>([&](const auto& outcome) {
                      if (!outcome) why = outcome.error();
                    }));
  return why;
}

const Stock some{3, {"x", "yz"}};

BOOST_AUTO_TEST_SUITE(typed)

BOOST_AUTO_TEST_CASE(a_value_of_the_version_is_read_as_it_was_written) {
  BOOST_TEST((decode_version<Stock>(2, encode_version(2, some)).value() == some));
}

BOOST_AUTO_TEST_CASE(nodes_exchange_values_in_the_lab) {
  std::map<NodeId, Storekeeper<1>*> keepers;
  lab::World world(3, 1, [&](Services& services) {
    auto keeper = std::make_unique<Storekeeper<1>>();
    keepers[services.self()] = keeper.get();
    return keeper;
  });
  BOOST_REQUIRE(world.run_until_normal());
  for (const auto& [node, keeper] : keepers) BOOST_TEST(keeper->installed == 21u);
}

BOOST_AUTO_TEST_CASE(a_definition_of_another_version_fails_start_with_its_node_and_both_versions) {
  BOOST_TEST(why_start_fails(encode_version(1, some)) ==
             "the definition of node 3 is of version 1, and this program reads version 2: run the "
             "same program on all nodes");
}

BOOST_AUTO_TEST_CASE(bytes_that_belong_to_nothing_fail_start) {
  const std::string why = why_start_fails(encode_version(2, some) + '\0');
  BOOST_TEST(why.starts_with("the definition of node 3 is said to be of version 2 and is not: "));
  BOOST_TEST(why.find("surplus bytes at the end") != std::string::npos, why);
}

BOOST_AUTO_TEST_CASE(no_beginning_of_a_value_is_a_value) {
  const std::string whole = encode_version(2, some);
  for (std::size_t size = 0; size < whole.size(); ++size)
    BOOST_TEST(why_start_fails(whole.substr(0, size)) != "it does not fail");
  BOOST_TEST(why_start_fails("").find("it has only 0 bytes") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_count_that_the_bytes_do_not_hold_takes_no_memory) {
  std::string bytes = encode_version(2, some);
  bytes[8] = bytes[9] = bytes[10] = bytes[11] = '\xff';  // the number of names
  BOOST_TEST(why_start_fails(bytes) != "it does not fail");
}

BOOST_AUTO_TEST_CASE(every_member_whose_report_cannot_be_read_is_named) {
  const std::string why = why_reorganize_fails({{NodeId{1}, encode_version(1, some)},
                                                {NodeId{2}, encode_version(2, some)},
                                                {NodeId{3}, "?"}});
  BOOST_TEST(why ==
             "the report of node 1 is of version 1, and this program reads version 2; that of node "
             "3 is not of version 2: it has only 1 bytes: run the same program on all nodes");
}

BOOST_AUTO_TEST_CASE(two_versions_in_one_cluster_never_take_each_other_at_their_word) {
  lab::World world(2, 1, [](Services& services) -> std::unique_ptr<Application> {
    if (services.self() == NodeId{1}) return std::make_unique<Storekeeper<1>>();
    return std::make_unique<Storekeeper<2>>();
  });
  const auto together = [&] {
    return world.is_up(NodeId{1}) && world.is_up(NodeId{2}) && world.is_normal();
  };
  BOOST_TEST(!world.run_until(together, 2s));
  BOOST_TEST(world.journal().find("the report of node 1 is of version 1, and this program reads "
                                  "version 2") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
