#include "words.hpp"

#include <muster/protocol/bully.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <boost/json/parse.hpp>

#include <string>

namespace muster {
BOOST_AUTO_TEST_SUITE(json)

namespace {

using namespace std::chrono_literals;

const ElectionId election{NodeId{5}, Incarnation{4}, 2};

Letter letter(Message message) {
  return {NodeId{5}, Incarnation{4}, NodeId{3}, CallNumber{17}, std::move(message)};
}

template <class T>
std::string error_of(std::string_view json) {
  const auto read = read_json<T>(boost::json::parse(json));
  return read ? "no error: " + to_text(*read) : read.error().what;
}

BOOST_AUTO_TEST_CASE(puts_a_letter_among_the_fields_of_its_event) {
  BOOST_TEST(to_json(Event(Received{letter(Halt{election})})) ==
             R"({"type":"Received","from":5,"incarnation":4,"to":3,"call":17,)"
             R"("message":"Halt","election":[5,4,2]})");
  BOOST_TEST(to_json(Event(Received{letter(AreYouThere{})})) ==
             R"({"type":"Received","from":5,"incarnation":4,"to":3,"call":17,)"
             R"("message":"AreYouThere"})");
}

BOOST_AUTO_TEST_CASE(puts_a_letter_among_the_fields_of_its_action) {
  BOOST_TEST(to_json(Action(Send{letter(Halt{election}), Bound::answer})) ==
             R"({"type":"Send","from":5,"incarnation":4,"to":3,"call":17,)"
             R"("message":"Halt","election":[5,4,2],"bound":"answer"})");
  BOOST_TEST(to_json(Action(Send{letter(Answer{Joined{{{"held"}, {}, Digest{0xabc}, false}}}),
                                 std::nullopt})) ==
             R"({"type":"Send","from":5,"incarnation":4,"to":3,"call":17,"message":"Answer",)"
             R"("answer":"Joined","holdings":{"report":"aGVsZA==","group":null,)"
             R"("definition":"0000000000000abc","empty":false},"bound":null})");
}

BOOST_AUTO_TEST_CASE(writes_events_as_the_journal_has_them) {
  BOOST_TEST(to_json(Event(Paused{3100ms})) == R"({"type":"Paused","gap_ns":3100000000})");
  BOOST_TEST(to_json(Event(Unanswered{NodeId{4}, CallNumber{9}})) ==
             R"({"type":"Unanswered","by":4,"call":9})");
  BOOST_TEST(to_json(Event(Failed{NodeId{4}, Incarnation{2}})) ==
             R"({"type":"Failed","node":4,"life":2})");
  BOOST_TEST(to_json(Event(Expired{Timer::coordinator})) ==
             R"({"type":"Expired","timer":"coordinator"})");
  BOOST_TEST(to_json(Event(Stopped{Ticket{7}, Report{"a"}})) ==
             R"({"type":"Stopped","ticket":7,"report":"YQ=="})");
  BOOST_TEST(to_json(Event(HookFailed{Ticket{7}, Hook::start, "no \"room\""})) ==
             R"({"type":"HookFailed","ticket":7,"hook":"start","why":"no \"room\""})");
  BOOST_TEST(to_json(Event(Leaving{})) == R"({"type":"Leaving"})");
  SafeState safe{Incarnation{9}, 17, Assigned{{"x"}, {17, NodeId{5}}}, {}, {}};
  safe.vector = {Status::Normal, NodeId{5}, NodeId{5}, {NodeId{1}, NodeId{2}}};
  safe.seen = {{NodeId{1}, Incarnation{2}}, {NodeId{5}, Incarnation{4}}};
  BOOST_TEST(to_json(Event(Recovered{safe})) ==
             R"({"type":"Recovered","safe":{"incarnation":9,"counter_limit":17,)"
             R"("assigned":{"definition":"eA==","group":[17,5]},)"
             R"("vector":{"s":"Normal","c":5,"h":5,"up":[1,2]},"seen":[[1,2],[5,4]]}})");
  safe.instances = {{NodeId{5}, Instance{7}}};
  BOOST_TEST(to_json(safe).ends_with(R"("seen":[[1,2],[5,4]],"instances":[[5,7]]})"));
  BOOST_TEST(to_json(Event(Received{{NodeId{5}, {4}, NodeId{1}, {}, AreYouThere{}}, {7}}))
                 .ends_with(R"("message":"AreYouThere","instance":7})"));
}

BOOST_AUTO_TEST_CASE(writes_actions_as_the_journal_has_them) {
  BOOST_TEST(to_json(Action(Arm{Timer::coordinator, 0})) ==
             R"({"type":"Arm","timer":"coordinator","level":0})");
  BOOST_TEST(to_json(Action(Stop{Ticket{7}, {StopReason::halted, NodeId{5}}, true})) ==
             R"({"type":"Stop","ticket":7,"cause":{"reason":"halted","by":5},"owed":true})");
  BOOST_TEST(to_json(Action(Start{Ticket{8}, {"x"}, {17, NodeId{5}}})) ==
             R"({"type":"Start","ticket":8,"definition":"eA==","group":[17,5]})");
  BOOST_TEST(to_json(Action(Leave{LeaveCause::stood_back})) ==
             R"({"type":"Leave","cause":"stood_back"})");
}

BOOST_AUTO_TEST_CASE(writes_the_view_as_the_journal_has_it) {
  View view{Status::Election, {}, {}, NodeId{5}, {}, {}, Wait::Idle, Activity::Stopping};
  BOOST_TEST(to_json(view) ==
             R"({"status":"Election","coordinator":null,"group":null,"halted_by":5,"up":null,)"
             R"("definition":null,"procedure":"Idle","application":"Stopping"})");
}

BOOST_AUTO_TEST_CASE(keeps_the_variant_of_a_state_in_an_object_of_its_own) {
  bully::State state;
  state.procedure = bully::Checking{{{CallNumber{1}, NodeId{2}}}, {NodeId{3}}};
  BOOST_TEST(test::says(to_json(state),
                        R"("procedure":{"type":"Checking","asked":[[1,2]],"not_asked":[3]},)"));
}

BOOST_AUTO_TEST_CASE(names_the_unit_of_a_duration) {
  const std::string config = to_json(Config{{NodeId{1}, {NodeId{1}}, {}, {}}, {}});
  BOOST_TEST(test::says(config, R"("timings":{"T_ns":100000000,"stop_deadline_ns":2000000000,)"));
}

BOOST_AUTO_TEST_CASE(writes_extreme_numbers_in_full) {
  BOOST_TEST(to_json(std::uint64_t{18446744073709551615u}) == "18446744073709551615");
  BOOST_TEST(to_json(Duration::min()) == "-9223372036854775808");
}

BOOST_AUTO_TEST_CASE(appends) {
  std::string line = "{\"event\":";
  write_json(line, Event(Leaving{}));
  BOOST_TEST(line == R"({"event":{"type":"Leaving"})");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(json_strings)

BOOST_AUTO_TEST_CASE(escape_what_json_and_terminals_cannot_take) {
  BOOST_TEST(to_json(std::string("\"\\\n\r\t\b\x1f\x7f/")) == R"("\"\\\n\r\t\u0008\u001f\u007f/")");
  BOOST_TEST(to_json(std::string("a\0b", 3)) == R"("a\u0000b")");
}

BOOST_AUTO_TEST_CASE(keep_unicode) {
  const std::string text = "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xee\x80\x80\xf4\x8f\xbf\xbf";
  BOOST_TEST(to_json(text) == '"' + text + '"');
}

// Each byte that is not part of valid UTF-8 becomes U+FFFD and its two hexadecimal digits.
BOOST_AUTO_TEST_CASE(escape_bytes_that_are_not_unicode) {
  BOOST_TEST(to_json(std::string("a\xff")) == R"("a\ufffdff")");
  BOOST_TEST(to_json(std::string("\xc0\x80")) == R"("\ufffdc0\ufffd80")");              // overlong
  BOOST_TEST(to_json(std::string("\xed\xa0\x80")) == R"("\ufffded\ufffda0\ufffd80")");  // surrogate
  BOOST_TEST(to_json(std::string("\xf4\x90\x80\x80")) ==
             R"("\ufffdf4\ufffd90\ufffd80\ufffd80")");                      // too high
  BOOST_TEST(to_json(std::string("\xe2\x82")) == R"("\ufffde2\ufffd82")");  // too short
  BOOST_TEST(to_json(std::string("\xef\xbf\xbd")) == R"("\ufffdef\ufffdbf\ufffdbd")");
}

BOOST_AUTO_TEST_CASE(of_every_two_bytes_come_back) {
  for (int first = 0; first < 256; ++first) {
    std::string text;
    for (int second = 0; second < 256; ++second)
      ((text += static_cast<char>(first)) += static_cast<char>(second)) += ' ';
    const auto back = read_json<std::string>(boost::json::parse(to_json(text)));
    BOOST_TEST_REQUIRE(back.has_value());
    BOOST_TEST((*back == text), "after byte " << first);
  }
}

BOOST_AUTO_TEST_CASE(of_bytes_are_base64) {
  // RFC 4648, "Test Vectors".
  BOOST_TEST(to_json(Bytes{""}) == R"("")");
  BOOST_TEST(to_json(Bytes{"f"}) == R"("Zg==")");
  BOOST_TEST(to_json(Bytes{"fo"}) == R"("Zm8=")");
  BOOST_TEST(to_json(Bytes{"foo"}) == R"("Zm9v")");
  BOOST_TEST(to_json(Bytes{"foob"}) == R"("Zm9vYg==")");
  BOOST_TEST(to_json(Bytes{"fooba"}) == R"("Zm9vYmE=")");
  BOOST_TEST(to_json(Bytes{"foobar"}) == R"("Zm9vYmFy")");
  BOOST_TEST(to_json(Bytes{"\xfb\xff\xfe"}) == R"("+//+")");
  for (const char* wrong : {R"("Zg=")", R"("Zg")", R"("Zh==")", R"("Zm9=")", R"("Z===")",
                            R"("Zm9v====")", R"("Zm9\n")", R"("=Zg=")", R"("Zm-v")", "7"})
    BOOST_TEST(!read_json<Bytes>(boost::json::parse(wrong)), wrong);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(json_errors)

BOOST_AUTO_TEST_CASE(name_the_path_of_the_field) {
  BOOST_TEST(error_of<Halt>(R"({"election":[5,-4,2]})") ==
             "election[1]: expected a whole number from 0 to 18446744073709551615, found -4");
  BOOST_TEST(error_of<Config>(R"({"self":1,"nodes":[],"repairs":{"start_over_halted":1}})") ==
             "repairs.start_over_halted: expected true or false, found 1");
  BOOST_TEST(
      error_of<Actions>(R"([{"type":"Leave","cause":"asked"},{"type":"Arm","timer":"x"}])") ==
      R"([1].timer: expected the name of one of its values, found "x")");
  BOOST_TEST(error_of<bully::Calls>(R"([[1,2],[2,"x"]])") ==
             R"([1][1]: expected a whole number from 0 to 4294967295, found "x")");
}

BOOST_AUTO_TEST_CASE(of_another_version_are_read_as_far_as_they_are_known) {
  const auto read = [](const char* json) {
    return read_json_of_any_version<std::vector<Failed>>(boost::json::parse(json));
  };
  const std::vector<Failed> known{{NodeId{4}, {}}, {NodeId{5}, Incarnation{2}}};
  BOOST_TEST(read(R"([{"node":4,"later":{}},{"node":5,"life":2}])").value() == known);
  BOOST_TEST(read(R"([{"node":"4"}])").error().what ==
             R"([0].node: expected a whole number from 0 to 4294967295, found "4")");
}

BOOST_AUTO_TEST_CASE(name_what_is_missing_and_what_is_too_much) {
  BOOST_TEST(error_of<Event>(R"({"type":"Failed","node":4})") == "life: is missing");
  BOOST_TEST(error_of<Event>(R"({"type":"Failed","node":4,"life":2,"left":true})") ==
             "left: is not a known key");
  BOOST_TEST(error_of<Expired>(R"({"timer":"check","level":1})") == "level: is not a known key");
  BOOST_TEST(error_of<Event>(R"({"node":4})") == "type: is missing");
  BOOST_TEST(error_of<Event>(R"({"type":"Fallen"})") ==
             R"(type: expected the name of a known alternative, found "Fallen")");
  BOOST_TEST(error_of<Event>(R"({"type":"Received","from":5,"incarnation":4,"to":3,"call":17,)"
                             R"("message":"Halt","election":[5,4,2],"group":[1,2]})") ==
             "group: is not a known key");
  BOOST_TEST(error_of<Event>("7") == "the value: expected an object, found 7");
}

BOOST_AUTO_TEST_CASE(refuse_numbers_that_do_not_fit) {
  BOOST_TEST(!read_json<NodeId>(boost::json::parse("4294967296")));
  BOOST_TEST(!read_json<NodeId>(boost::json::parse("1.0")));
  BOOST_TEST(!read_json<CallNumber>(boost::json::parse("18446744073709551616")));
  BOOST_TEST(!read_json<Duration>(boost::json::parse("9223372036854775808")));
  BOOST_TEST(!read_json<int>(boost::json::parse("-2147483649")));
  BOOST_TEST(read_json<int>(boost::json::parse("-2147483648")).value() == -2147483648);
}

BOOST_AUTO_TEST_CASE(refuse_another_order_and_other_shapes) {
  BOOST_TEST(!read_json<NodeSet>(boost::json::parse("[2,1]")));
  BOOST_TEST(!read_json<NodeSet>(boost::json::parse("[1,1]")));
  BOOST_TEST(!read_json<bully::Calls>(boost::json::parse("[[2,1],[1,1]]")));
  BOOST_TEST(!read_json<bully::Calls>(boost::json::parse("[[2]]")));
  BOOST_TEST(!read_json<GroupNumber>(boost::json::parse("[1,2,3]")));
  BOOST_TEST(!read_json<GroupNumber>(boost::json::parse("null")));
  BOOST_TEST(!read_json<Status>(boost::json::parse("1")));
  for (const char* wrong : {R"("abc")", R"("00000000000000AB")", R"("0000000000000000ab")", "171"})
    BOOST_TEST(!read_json<Digest>(boost::json::parse(wrong)), wrong);
}

BOOST_AUTO_TEST_CASE(show_no_more_of_what_was_found_than_fits_a_sentence) {
  std::string long_one(1000, 'x');
  long_one.front() = long_one.back() = '"';
  BOOST_TEST(error_of<NodeId>(long_one).size() < 120u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster
