#include <muster/protocol/bully.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/one_line.hpp>
#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <sstream>

namespace muster {
BOOST_AUTO_TEST_SUITE(texts)

namespace {

using namespace std::chrono_literals;

const ElectionId election{NodeId{5}, Incarnation{3}, 1};

BOOST_AUTO_TEST_CASE(of_structs_name_their_fields) {
  BOOST_TEST(to_text(Halt{election}) == "Halt{election: 5.3.1}");
  BOOST_TEST(to_text(AreYouThere{}) == "AreYouThere");
  BOOST_TEST(to_text(Holdings{{"shard 1"}, GroupNumber{17, NodeId{5}}, Digest{255}, false}) ==
             "Holdings{report: \"shard 1\", group: 17.5, definition: 00000000000000ff, "
             "empty: false}");
}

BOOST_AUTO_TEST_CASE(of_variants_are_those_of_what_they_hold) {
  BOOST_TEST(to_text(Event(Expired{Timer::check})) == "Expired{timer: check}");
  BOOST_TEST(to_text(Message(Answer{Joined{}})).starts_with("Answer{result: Joined{holdings: "));
  BOOST_TEST(to_text(bully::Procedure(bully::HaltingLower{CallNumber{7}, NodeId{2}})) ==
             "HaltingLower{call: 7, node: 2}");
}

BOOST_AUTO_TEST_CASE(of_containers_show_what_is_in_them) {
  BOOST_TEST(to_text(NodeSet{}) == "{}");
  BOOST_TEST(to_text(NodeSet{NodeId{3}, NodeId{1}}) == "{1, 3}");
  BOOST_TEST(to_text(Actions{Disarm{Timer::retry}, Leave{}}) ==
             "[Disarm{timer: retry}, Leave{cause: asked}]");
  BOOST_TEST(to_text(bully::Calls{{CallNumber{1}, NodeId{4}}, {CallNumber{2}, NodeId{5}}}) ==
             "{1: 4, 2: 5}");
  BOOST_TEST(to_text(std::optional<NodeId>()) == "none");
  BOOST_TEST(to_text(std::optional<NodeId>(NodeId{4})) == "4");
}

BOOST_AUTO_TEST_CASE(of_durations_have_the_largest_unit_that_needs_no_fraction) {
  BOOST_TEST(to_text(Duration(2s)) == "2 s");
  BOOST_TEST(to_text(Duration(1500ms)) == "1500 ms");
  BOOST_TEST(to_text(Duration(-3us)) == "-3 us");
  BOOST_TEST(to_text(Duration(1'000'001ns)) == "1000001 ns");
  BOOST_TEST(to_text(Duration(0)) == "0 s");
}

BOOST_AUTO_TEST_CASE(stay_on_one_line) {
  BOOST_TEST(to_text(std::string("a\n\"\\\x01\xc3\xa9")) == "\"a\\n\\\"\\\\\\x01\xc3\xa9\"");
  BOOST_TEST(to_text(Bytes{"a\n"}) == "2 bytes " + to_text(digest("a\n")));
  const std::string long_bytes(41, 'x');
  BOOST_TEST(to_text(Bytes{long_bytes}) == "41 bytes " + to_text(digest(long_bytes)));
}

BOOST_AUTO_TEST_CASE(of_values_without_a_name_are_shown_all_the_same) {
  BOOST_TEST(to_text(static_cast<Status>(9)) == "Status#9");
}

BOOST_AUTO_TEST_CASE(of_somebody_else_fits_into_one_line) {
  BOOST_TEST(one_line("a\nb\x1b[2J\x7f", 100) == "a b?[2J?");
  BOOST_TEST(one_line("\xc3\xa9 \xe2\x82\xac", 100) == "\xc3\xa9 \xe2\x82\xac");
  BOOST_TEST(one_line("\xff\xc2\x9b\xe2\x82", 100) == "????");
  BOOST_TEST(one_line("abcdef", 3) == "abc...");
  BOOST_TEST(one_line("ab\xe2\x82\xac", 4) == "ab...");
  BOOST_TEST(one_line("", 3).empty());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(names)

BOOST_AUTO_TEST_CASE(of_types_are_without_namespaces) {
  static_assert(type_name<Halt>() == "Halt");
  static_assert(type_name<bully::BackingOff>() == "BackingOff");
  static_assert(type_name<int>() == "int");
  BOOST_TEST(alternative_name(Message(NewCoordinator{})) == "NewCoordinator");
  BOOST_TEST(alternative_name(bully::Procedure(bully::Probing{})) == "Probing");
}

BOOST_AUTO_TEST_CASE(of_enumerators_go_both_ways) {
  BOOST_TEST(enumerator_name(StopReason::starting_over) == "starting_over");
  BOOST_TEST(enumerator_named<StopReason>("starting_over") == StopReason::starting_over);
  BOOST_TEST(!enumerator_named<StopReason>("starting"));
  BOOST_TEST(enumerator_name(static_cast<Status>(9)).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster

// This case is outside Muster's namespaces, so the compiler can find the printer only by the types
// of its arguments.
BOOST_AUTO_TEST_CASE(values_can_be_streamed_from_anywhere) {
  std::ostringstream out;
  out << muster::NodeId{1} << ' ' << muster::Status::Normal << ' '
      << muster::bully::State{}.procedure << ' ' << muster::bully::HaltedLife{} << ' '
      << muster::Event(muster::Leaving{}) << ' ' << muster::Actions{} << ' '
      << muster::Failure{muster::ExitCode::usage, "no such word"};
  BOOST_TEST(
      out.str() ==
      "1 Normal Idle HaltedLife{node: 0, incarnation: 0} Leaving [] no such word (exit code 2)");
}
