#include "words.hpp"

#include <muster/journal/journal.hpp>
#include <muster/protocol/misfit.hpp>
#include <muster/values/hash.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <fstream>
#include <set>

/// The lines of the journal as docs/reference/journal.md shows them. Each line must be read exactly
/// as it was written.

using namespace muster;
namespace data = boost::unit_test::data;

namespace {

constexpr GroupNumber group{16, NodeId{4}};

journal::Stamp stamp(std::int64_t t, std::uint64_t seq) {
  return {Duration(t), NodeId{3}, Incarnation{9}, seq};
}

Config config() {
  Config config;
  config.self = NodeId{3};
  for (std::uint32_t id = 1; id <= 5; ++id) config.nodes.insert(NodeId{id});
  return config;
}

Letter letter(Message message) {
  return {NodeId{5}, Incarnation{4}, NodeId{3}, CallNumber{17}, std::move(message)};
}

const std::string every_byte = [] {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  return bytes;
}();

const SafeState safe{
    Incarnation{9},
    32,
    Assigned{{every_byte}, group},
    {Status::Election, NodeId{4}, NodeId{5}, {NodeId{1}, NodeId{2}}},
    {{NodeId{1}, Incarnation{3}}, {NodeId{5}, Incarnation{18446744073709551615u}}}};

const Holdings holdings{{"a report"}, group, Digest{0x0123456789abcdef}, false};

const ElectionId election{NodeId{5}, Incarnation{4}, 2};

const Event events[] = {
    Recovered{safe},
    Received{letter(AreYouThere{})},
    Received{letter(AreYouNormal{group})},
    Received{letter(Halt{election})},
    Received{letter(NewCoordinator{election, Incarnation{9}, group})},
    Received{letter(Ready{election, Incarnation{9}, group, {every_byte}})},
    Received{letter(Answer{Here{}})},
    Received{letter(Answer{Normality{true}})},
    Received{letter(Answer{Halted{7}})},
    Received{letter(Answer{Joined{holdings}})},
    Received{letter(Answer{Installed{}})},
    Received{letter(Answer{Refused{"because of \"\n\xff"}})},
    Unanswered{NodeId{2}, CallNumber{8}},
    Failed{NodeId{2}, Incarnation{1}},
    Expired{Timer::retry},
    Paused{std::chrono::milliseconds(700)},
    Stopped{Ticket{7}, Report{"held"}},
    Stopped{Ticket{7}, std::nullopt},
    Reorganized{Ticket{8}, {"task"}},
    Started{Ticket{9}},
    HookFailed{Ticket{9}, Hook::start, "no space"},
    Leaving{},
    ElectionAsked{"maintenance is over"},
};

const Action actions[] = {
    Save{safe},
    Send{letter(Answer{Halted{7}}), std::nullopt},
    Send{letter(Halt{election}), Bound::answer},
    Arm{Timer::retry, 3},
    Disarm{Timer::check},
    Stop{Ticket{7}, {StopReason::halted, NodeId{5}}, true},
    Reorganize{Ticket{8}, group, {{NodeId{3}, Incarnation{9}, holdings}}},
    Start{Ticket{9}, {"task"}, group},
    Leave{LeaveCause::stood_back},
};

const View seen{Status::Reorganization, NodeId{4}, group,      NodeId{4},
                NodeSet{NodeId{1}},     Digest{1}, Wait::Idle, Activity::Starting};

// The text of the line that `line`, such as journal::header_line, writes for these arguments.
template <class... What>
std::string written(void (*line)(std::string&, What...), std::type_identity_t<What>... what) {
  std::string out;
  line(out, what...);
  return out;
}

std::string step_line(const Event& event, const Actions& asked = {}, const View& after = seen) {
  std::string out;
  journal::step_line(out, stamp(2, 41), event, asked, after);
  return out;
}

// The first line of a life of that node, with the configuration of node 3.
std::string first_line(std::uint32_t node = 3) {
  return written(
      journal::header_line,
      {Duration(1), NodeId{node}, Incarnation{9}, journal::Clock::monotonic, config(), {}});
}

// Reads one line, and checks that writing the result gives the same text.
journal::Line read_again(const std::string& text) {
  BOOST_TEST_REQUIRE(!text.empty());
  BOOST_TEST_REQUIRE(text.back() == '\n');
  BOOST_TEST(text.find('\n') == text.size() - 1);
  auto line = journal::parse_line(std::string_view(text).substr(0, text.size() - 1));
  BOOST_TEST_REQUIRE(line.has_value(), (line ? "" : line.error().what) << " in " << text);
  std::string again;
  journal::append_line(again, *line);
  BOOST_TEST(again == text);
  return *line;
}

std::string refusal(std::string_view text) {
  const auto line = journal::parse_line(text);
  BOOST_TEST_REQUIRE(!line.has_value());
  return line.error().what;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(written_as_the_manual_shows_it)

BOOST_AUTO_TEST_CASE(a_step) {
  const Answer answer{Halted{21}};
  const Actions asked{
      Stop{Ticket{7}, {StopReason::halted, NodeId{5}}, true},
      Send{{NodeId{3}, Incarnation{9}, NodeId{5}, CallNumber{17}, answer}, std::nullopt},
      Arm{Timer::coordinator, 0}};
  View after;
  after.status = Status::Election;
  after.halted_by = NodeId{5};
  after.procedure = Wait::Idle;
  after.application = Activity::Stopping;
  BOOST_TEST(
      step_line(Received{letter(Halt{election})}, asked, after) ==
      R"({"t_ns":2,"node":3,"incarnation":9,"seq":41,)"
      R"("event":{"type":"Received","from":5,"incarnation":4,"to":3,"call":17,"message":"Halt",)"
      R"("election":[5,4,2]},)"
      R"("actions":[{"type":"Stop","ticket":7,"cause":{"reason":"halted","by":5},"owed":true},)"
      R"({"type":"Send","from":3,"incarnation":9,"to":5,"call":17,"message":"Answer",)"
      R"("answer":"Halted","counter":21,"bound":null},)"
      R"({"type":"Arm","timer":"coordinator","level":0}],)"
      R"("state":{"status":"Election","coordinator":null,"group":null,"halted_by":5,"up":null,)"
      R"("definition":null,"procedure":"Idle","application":"Stopping"}})"
      "\n");
}

BOOST_AUTO_TEST_CASE(a_save_that_is_durable) {
  BOOST_TEST(written(journal::performed_line, stamp(3, 42)) ==
             "{\"t_ns\":3,\"node\":3,\"incarnation\":9,\"seq\":42,\"performed\":\"Save\"}\n");
}

BOOST_AUTO_TEST_CASE(an_end_of_a_hook) {
  BOOST_TEST(written(journal::hook_line, stamp(3, 43), Hook::stop, journal::Edge::begin, group,
                     Ticket{7}, nullptr) ==
             "{\"t_ns\":3,\"node\":3,\"incarnation\":9,\"seq\":43,\"hook\":\"stop\","
             "\"edge\":\"begin\",\"group\":[16,4],\"ticket\":7}\n");
}

BOOST_AUTO_TEST_CASE(the_first_stop_is_about_no_group) {
  BOOST_TEST(test::says(written(journal::hook_line, stamp(3, 2), Hook::stop, journal::Edge::begin,
                                std::nullopt, Ticket{1}, nullptr),
                        "\"group\":null"));
}

BOOST_AUTO_TEST_CASE(a_reorganize_lists_its_members) {
  const Members members{{NodeId{3}, Incarnation{9}, holdings}};
  BOOST_TEST(test::says(written(journal::hook_line, stamp(3, 43), Hook::reorganize,
                                journal::Edge::begin, group, Ticket{8}, &members),
                        "\"members\":[{\"node\":3,\"incarnation\":9,\"report\":\"" +
                            to_text(digest("a report")) + "\",\"group\":[16,4],\"empty\":false}]"));
}

BOOST_AUTO_TEST_CASE(permits) {
  BOOST_TEST(written(journal::permits_line, stamp(3, 44), journal::PermitsEdge::revoked, group) ==
             "{\"t_ns\":3,\"node\":3,\"incarnation\":9,\"seq\":44,\"permits\":\"revoked\","
             "\"group\":[16,4]}\n");
}

BOOST_AUTO_TEST_CASE(faults) {
  std::string out;
  journal::fault_line(out, {Duration(4), journal::FaultKind::killed, NodeId{5}, {}});
  journal::fault_line(out, {Duration(5), journal::FaultKind::power_cut, {}, {}});
  journal::fault_line(out, {Duration(6), journal::FaultKind::cut, NodeId{5}, NodeSet{NodeId{1}}});
  BOOST_TEST(out ==
             "{\"t_ns\":4,\"fault\":\"killed\",\"node\":5}\n"
             "{\"t_ns\":5,\"fault\":\"power-cut\"}\n"
             "{\"t_ns\":6,\"fault\":\"cut\",\"node\":5,\"from\":[1]}\n");
}

BOOST_AUTO_TEST_CASE(a_life_that_ends_itself) {
  BOOST_TEST(written(journal::ended_line, stamp(5, 99), 76, "stop overran 2 s") ==
             "{\"t_ns\":5,\"node\":3,\"incarnation\":9,\"seq\":99,\"ended\":76,"
             "\"why\":\"stop overran 2 s\"}\n");
}

BOOST_AUTO_TEST_CASE(what_an_application_says) {
  BOOST_TEST(
      written(journal::remark_line, stamp(6, 45), journal::RemarkKind::note, "invoice 1-1") ==
      "{\"t_ns\":6,\"node\":3,\"incarnation\":9,\"seq\":45,\"note\":\"invoice 1-1\"}\n");
  BOOST_TEST(
      written(journal::remark_line, stamp(7, 46), journal::RemarkKind::broken, "two lamps") ==
      "{\"t_ns\":7,\"node\":3,\"incarnation\":9,\"seq\":46,\"broken\":\"two lamps\"}\n");
  BOOST_TEST(written(journal::finding_line, {Duration(8), "two lamps"}) ==
             "{\"t_ns\":8,\"broken\":\"two lamps\"}\n");
}

BOOST_AUTO_TEST_CASE(the_first_line) {
  std::string out = first_line();
  BOOST_TEST(out.starts_with(
      R"({"journal":"muster","version":1,"node":3,"incarnation":9,"clock":"monotonic","t_ns":1,)"
      R"("protocol":"bully","literal":false,"nodes":[1,2,3,4,5],"config":{"self":3,)"));
  BOOST_TEST(out.find("\"state\"") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(read_as_it_was_written)

BOOST_DATA_TEST_CASE(every_event, data::xrange(std::size(events)), index) {
  const journal::Line line = read_again(step_line(events[index]));
  BOOST_TEST((std::get<journal::Step>(line).event == events[index]), to_text(events[index]));
  BOOST_TEST(std::get<journal::Step>(line).view == seen);
  BOOST_TEST(std::get<journal::Step>(line).stamp == stamp(2, 41));
}

BOOST_DATA_TEST_CASE(every_action, data::xrange(std::size(actions)), index) {
  const journal::Line line = read_again(step_line(Leaving{}, {actions[index]}));
  BOOST_TEST((std::get<journal::Step>(line).actions == Actions{actions[index]}),
             to_text(actions[index]));
}

BOOST_AUTO_TEST_CASE(every_other_line) {
  const journal::Line lines[] = {
      journal::Performed{stamp(3, 1)},
      journal::HookEdge{stamp(3, 2), Hook::start, journal::Edge::failed, group, Ticket{9}, {}},
      journal::HookEdge{stamp(3, 2),
                        Hook::reorganize,
                        journal::Edge::begin,
                        group,
                        Ticket{9},
                        {{{NodeId{3}, Incarnation{9}, Digest{5}, std::nullopt, true}}}},
      journal::Permits{stamp(4, 3), journal::PermitsEdge::returned, group},
      journal::Ended{stamp(4, 4), 0, "asked \"to\""},
      journal::Remark{stamp(4, 5), journal::RemarkKind::note, "\"\xc3\xa4\""},
      journal::Remark{stamp(4, 6), journal::RemarkKind::broken, ""},
      journal::Finding{Duration(4), "two lamps"},
  };
  for (const journal::Line& line : lines) {
    const std::string out = written(journal::append_line, line);
    BOOST_TEST((read_again(out) == line), out);
  }
}

BOOST_AUTO_TEST_CASE(every_fault) {
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<journal::FaultKind>>(
      [](auto kind) {
        const journal::Fault fault{Duration(7), kind.value, NodeId{2}, {}};
        const std::string out = written(journal::fault_line, fault);
        BOOST_TEST((read_again(out) == journal::Line(fault)), out);
      });
}

// The first line of a segment in the middle of a life contains all state from which `step` goes on.
BOOST_AUTO_TEST_CASE(the_first_line_of_a_segment_with_its_whole_state) {
  bully::State state;
  const Config own = config();
  bully::step(own, state, Recovered{safe});
  bully::step(own, state, Received{letter(Halt{election})});
  bully::step(own, state,
              Received{letter(NewCoordinator{election, Incarnation{9}, {40, NodeId{5}}})});
  bully::step(own, state, Stopped{state.ticket, Report{every_byte}});
  bully::step(own, state, Expired{Timer::coordinator});
  const journal::Header header{Duration(1), NodeId{3}, Incarnation{9}, journal::Clock::simulated,
                               own,         state};
  const journal::Line line = read_again(written(journal::header_line, header));
  BOOST_TEST(std::get<journal::Header>(line) == header);
}

BOOST_AUTO_TEST_CASE(the_first_line_of_a_segment_of_each_protocol) {
  for (const auto protocol : {ProtocolName::invitation, ProtocolName::textbook}) {
    Config own = config();
    own.protocol = protocol;
    own.importance = {{NodeId{2}, 7}};
    Protocol state = begin(own);
    step(own, state, Recovered{safe});
    const journal::Header header{Duration(1), NodeId{3}, Incarnation{9}, journal::Clock::simulated,
                                 own,         state};
    BOOST_TEST(std::get<journal::Header>(read_again(written(journal::header_line, header))) ==
               header);
  }
}

// The line of a state does not name the protocol.
BOOST_AUTO_TEST_CASE(a_gap_with_the_whole_state_of_each_protocol) {
  for (const auto protocol :
       {ProtocolName::bully, ProtocolName::invitation, ProtocolName::textbook}) {
    Config own = config();
    own.protocol = protocol;
    Protocol state = begin(own);
    step(own, state, Recovered{safe});
    const journal::Gap gap{stamp(5, 60), 17, state};
    std::string out = written(journal::gap_line, gap.stamp, gap.lines, gap.state);
    BOOST_TEST(
        out.starts_with(R"({"t_ns":5,"node":3,"incarnation":9,"seq":60,"gap":17,"state":{"s":)"));
    BOOST_TEST(std::get<journal::Gap>(read_again(out)) == gap);
    journal::Header header{Duration(5), NodeId{3}, Incarnation{9}, journal::Clock::monotonic, own,
                           state,       17};
    out.clear();
    journal::header_line(out, header);
    BOOST_TEST(std::get<journal::Header>(read_again(out)) == header);
  }
}

// Lines of release 0.1: each kind of line, each protocol and each message. This program must read
// and write them unchanged.
BOOST_AUTO_TEST_CASE(golden_lines) {
  std::ifstream file(MUSTER_GOLDEN "/journal.jsonl");
  std::set<std::size_t> kinds;
  for (std::string line; std::getline(file, line);) kinds.insert(read_again(line + '\n').index());
  BOOST_TEST(kinds.size() == std::variant_size_v<journal::Line>);
}

// When the Bully was the only protocol, a configuration in a journal did not name its protocol.
BOOST_AUTO_TEST_CASE(a_configuration_that_knows_the_bully_alone) {
  std::string out = first_line();
  const std::size_t config_at = out.find("\"config\":{");
  const std::size_t begins = out.find(",\"protocol\"", config_at);
  BOOST_TEST_REQUIRE(begins != std::string::npos);
  out.replace(begins, out.size() - begins, "}}\n");
  const auto line = journal::parse_line(std::string_view(out).substr(0, out.size() - 1));
  BOOST_TEST_REQUIRE(line.has_value(), (line ? "" : line.error().what));
  BOOST_TEST(std::get<journal::Header>(*line).config == config());
}

BOOST_AUTO_TEST_CASE(the_paper_s_text_is_named_literal) {
  Config own = config();
  own.repairs = Repairs::none();
  const std::string out =
      written(journal::header_line,
              {Duration(1), NodeId{3}, Incarnation{1}, journal::Clock::simulated, own, {}});
  BOOST_TEST(out.find("\"literal\":true") != std::string::npos);
  BOOST_TEST(std::get<journal::Header>(read_again(out)).config == own);
}

// Without this limit, drawing a cluster of so many nodes took minutes.
BOOST_AUTO_TEST_CASE(a_cluster_of_more_nodes_than_there_are_is_none) {
  Config many = config();
  for (std::uint32_t id = 1; many.nodes.size() <= most_nodes; ++id) many.nodes.insert(NodeId{id});
  std::string out =
      written(journal::header_line,
              {Duration(1), NodeId{3}, Incarnation{1}, journal::Clock::simulated, many, {}});
  out.pop_back();
  BOOST_TEST(journal::parse_line(out).error().what ==
             "a cluster of 65 nodes: a cluster has at most 64");
}

BOOST_AUTO_TEST_CASE(when_a_line_happened) {
  BOOST_TEST(journal::time_of(journal::Performed{stamp(3, 1)}).count() == 3);
  BOOST_TEST(journal::time_of(journal::Fault{Duration(4), {}, {}, {}}).count() == 4);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(refused_with_a_reason)

BOOST_AUTO_TEST_CASE(every_torn_line) {
  std::string out = step_line(events[0], {actions[0]});
  out.pop_back();
  BOOST_TEST_REQUIRE(journal::parse_line(out).has_value());
  for (std::size_t length = 0; length < out.size(); ++length)
    BOOST_TEST(!journal::parse_line(std::string_view(out).substr(0, length)).has_value());
}

BOOST_AUTO_TEST_CASE(what_is_no_line) {
  BOOST_TEST(refusal("[]") == "not a JSON object");
  BOOST_TEST(refusal("{}") == "not a line of a journal");
  BOOST_TEST(refusal(R"({"t_ns":1,"node":3})") == "not a line of a journal");
}

BOOST_AUTO_TEST_CASE(a_field_that_is_missing) {
  BOOST_TEST(refusal(R"({"t_ns":3,"node":3,"incarnation":9,"performed":"Save"})") ==
             "seq is missing");
  BOOST_TEST(refusal(R"({"t_ns":4,"node":3,"incarnation":9,"seq":1,"event":{"type":"Expired"},)"
                     R"("actions":[],"state":{}})") == "event: timer: is missing");
}

BOOST_AUTO_TEST_CASE(a_field_that_is_wrong) {
  BOOST_TEST(refusal(R"({"t_ns":3,"node":-3,"incarnation":9,"seq":1,"performed":"Save"})")
                 .starts_with("node: "));
  BOOST_TEST(refusal(R"({"t_ns":3,"node":3,"incarnation":9,"seq":1,"performed":"Send"})") ==
             "performed has a value that this version of Muster does not know");
  BOOST_TEST(refusal(R"({"t_ns":3,"fault":"power_cut"})") == "fault: there is no fault power_cut");
  BOOST_TEST(refusal(R"({"t_ns":3,"fault":"bored"})") == "fault: there is no fault bored");
}

BOOST_AUTO_TEST_CASE(another_version_or_protocol) {
  std::string out = first_line();
  out.pop_back();
  const std::string line = out;
  out.replace(out.find("bully"), 5, "ring");
  BOOST_TEST(refusal(out).starts_with("protocol: "));
  out = line;
  out.replace(out.find("\"version\":1"), 11, "\"version\":2");
  BOOST_TEST(refusal(out) == "version has a value that this version of Muster does not know");
}

BOOST_AUTO_TEST_CASE(a_configuration_of_another_protocol) {
  std::string out = first_line();
  const std::string is = R"("protocol":"bully","literal")";
  out.replace(out.find(is), is.size(), R"("protocol":"invitation","literal")");
  BOOST_TEST(refusal(out) == "config.protocol differs from protocol");
}

BOOST_AUTO_TEST_CASE(a_configuration_of_another_node) {
  std::string out = first_line(2);
  out.pop_back();
  BOOST_TEST(refusal(out) == "config.self differs from node");
}

BOOST_AUTO_TEST_CASE(lines_may_grow_but_events_count_in_full) {
  BOOST_TEST(journal::parse_line(
                 R"({"t_ns":3,"node":3,"incarnation":9,"seq":1,"performed":"Save","took_ns":5})")
                 .has_value());
  std::string out = step_line(Leaving{});
  out.pop_back();
  out.replace(out.find("\"type\""), 0, "\"mood\":1,");
  BOOST_TEST(refusal(out) == "event: mood: is not a known key");
}

BOOST_AUTO_TEST_SUITE_END()
