#include "campaign.hpp"

#include <boost/describe/enum_to_string.hpp>
#include <boost/test/unit_test.hpp>

/// Attacks the nodes of each protocol for 20 s. `./dev bench attack` does so for longer.

BOOST_AUTO_TEST_SUITE(net_attack)

namespace {

using namespace muster;

void attack(ProtocolName protocol) {
  const test::CampaignReport report =
      test::attack_trial({.program = MUSTER_PROGRAM, .protocol = protocol});
  BOOST_TEST(report.wrong.empty(), report.wrong);
  for (const test::Attack kind : report.missing())
    BOOST_ERROR("never: " << boost::describe::enum_to_string(kind, "?"));
}

}  // namespace

BOOST_AUTO_TEST_CASE(who_reaches_the_ports_of_bully_harms_nothing) {
  attack(ProtocolName::bully);
}
BOOST_AUTO_TEST_CASE(nor_of_textbook) {
  attack(ProtocolName::textbook);
}
BOOST_AUTO_TEST_CASE(nor_of_invitation) {
  attack(ProtocolName::invitation);
}
BOOST_AUTO_TEST_CASE(two_that_lie_about_lives_and_go_leave_no_groups_beside_each_other) {
  const std::string wrong = test::life_claims_trial({.program = MUSTER_PROGRAM});
  BOOST_TEST(wrong.empty(), wrong);
}

BOOST_AUTO_TEST_SUITE_END()
