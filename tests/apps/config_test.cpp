#include "accepted.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <ostream>
#include <string>
#include <vector>

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

const std::string good = R"([node]
id = 3
data = "n3"
[cluster]
name = "demo"
protocol = "bully"
T = "100ms"
stop_deadline = "2s"
start_deadline = "2s"
reorganize_deadline = "10s"
check_every = "50ms"
[cluster.nodes]
1 = "127.0.0.1:7101"
2 = "127.0.0.1:7102"
3 = "127.0.0.1:7103"
[journal]
file = "n3/journal.jsonl"
limit = "64MB"
[application]
kind = "shards"
)";

std::string with(std::string text, const std::string& line, const std::string& instead) {
  const auto at = text.find(line + "\n");
  BOOST_REQUIRE_MESSAGE(at != std::string::npos, "no line " << line);
  return text.replace(at, line.size(), instead);
}

std::string with(const std::string& line, const std::string& instead) {
  return with(good, line, instead);
}

// The valid configuration, in which `line` replaces the line that sets `key`.
std::string instead(const std::string& key, const std::string& line) {
  const auto at = good.find('\n' + key + " = ") + 1;
  BOOST_REQUIRE_MESSAGE(at != 0, "no line of " << key);
  return good.substr(0, at) + line + good.substr(good.find('\n', at));
}
std::string key(const std::string& key, const std::string& value) {
  return instead(key, key + " = " + value);
}
std::string text(const std::string& name, const std::string& value) {
  return key(name, '"' + value + '"');
}
std::string without(const std::string& key) {
  return instead(key, "");
}

std::string after(const std::string& key, const std::string& lines) {
  const auto at = good.find('\n', good.find('\n' + key + " = ") + 1);
  return good.substr(0, at) + '\n' + lines + good.substr(at);
}

std::string before_journal(const std::string& lines) {
  return with("[journal]", lines + "\n[journal]");
}

/// A configuration of the textbook protocol, with `line` under [cluster.importance].
std::string textbook(const std::string& importance) {
  return with(text("protocol", "textbook"), "[journal]",
              "[cluster.importance]\n" + importance + "\n[journal]");
}

/// A configuration without an application, with `line` under [hooks].
std::string hooks(const std::string& line) {
  return instead("kind", "kind = \"none\"\n[hooks]\n" + line);
}

struct Refused {
  std::string name;
  std::string text;
  int line;
  std::vector<std::string> contains;  ///< texts that the message contains
};
std::ostream& operator<<(std::ostream& out, const Refused& refused) {
  return out << refused.name;
}

std::string nodes_beyond_the_limit() {
  std::string lines;
  for (int id = 4; id <= 65; ++id) {
    lines += std::to_string(id) + " = \"127.0.0.1:" + std::to_string(7100 + id) + "\"\n";
  }
  return after("3", lines);
}

std::string key_of_many_parts() {
  std::string key = "a";
  for (int part = 1; part < 20'000; ++part) key += ".a";
  return key;
}

const std::vector<Refused> refusals{
    {"empty file", "", 1, {"[node] is missing"}},
    {"not TOML", key("id", "= 3"), 2, {"not TOML", "column"}},
    {"key of many parts",
     good + key_of_many_parts() + " = 1\n",
     21,
     {"40003 characters", "at most 4096"}},
    {"unknown table",
     good + "[extra]\n",
     21,
     {"unknown key extra", "node, cluster, tls, http, journal, log, application"}},
    {"unknown key in node",
     after("id", "prioriy = 7"),
     3,
     {"unknown key prioriy = 7", "[node]", "id, data"}},
    {"unknown key in cluster",
     instead("T", "t = \"100ms\""),
     7,
     {"unknown key t = ", "100ms", "[cluster]", "check_every"}},
    {"unknown key in journal",
     instead("limit", "size = \"64MB\""),
     18,
     {"unknown key size", "64MB", "file, limit, keep, detail"}},
    {"unknown detail",
     instead("limit", "detail = \"some\""),
     18,
     {"detail", "some", "\"all\" or \"changes\""}},
    {"less kept than two segments",
     instead("limit", "keep = \"100MB\""),
     18,
     {"keep", "100MB", "two segments", "128MB"}},
    {"unknown level of the log",
     before_journal("[log]\nlevel = \"debug\""),
     17,
     {"level", "debug", "error", "warning", "info"}},
    {"unknown key in application",
     instead("kind", "sort = \"shards\""),
     20,
     {"unknown key sort", "shards"}},
    {"unknown key nearly right",
     instead("kind", "kid = \"shards\""),
     20,
     {"unknown key kid", "kind"}},
    {"flag that is no flag", after("name", "literal = 1"), 6, {"literal = 1", "true or false"}},
    {"no node table", good.substr(good.find("[cluster]")), 1, {"[node] is missing"}},
    {"no id", without("id"), 1, {"has no id"}},
    {"id zero", key("id", "0"), 2, {"id = 0", "from 1"}},
    {"negative id", key("id", "-3"), 2, {"id = -3", "from 1"}},
    {"id as text", text("id", "3"), 2, {"\"3\"", "whole number"}},
    {"no data", without("data"), 1, {"has no data"}},
    {"socket path too long",
     text("data", std::string(200, 'd')),
     3,
     {"has 214 bytes", "at most 107"}},
    {"no cluster", "[node]\nid = 1\ndata = \"d\"\n", 1, {"[cluster] is missing"}},
    {"missing self", key("id", "4"), 2, {"id = 4", "1 2 3"}},
    {"duplicate id", instead("2", "1 = \"127.0.0.1:7102\""), 14, {"not TOML"}},
    {"id with a zero in front",
     instead("2", "02 = \"127.0.0.1:7102\""),
     14,
     {"02 = ", "a node's id"}},
    {"id that is a word", instead("2", "two = \"127.0.0.1:7102\""), 14, {"two = ", "a node's id"}},
    {"duplicate address",
     text("2", "127.0.0.1:7101"),
     14,
     {"127.0.0.1:7101", "node 1 has this one"}},
    {"duplicate address written otherwise",
     with("[cluster.nodes]", "[cluster.nodes]\n4 = \"[::1]:9\"\n5 = \"[0:0::1]:9\""),
     14,
     {"[0:0::1]:9", "node 4 has this one"}},
    {"no port", text("2", "127.0.0.1"), 14, {"127.0.0.1", "a port from 1 to 65535"}},
    {"port zero", text("2", "127.0.0.1:0"), 14, {"a port from 1"}},
    {"port too large", text("2", "127.0.0.1:65536"), 14, {"65536", "a port from 1 to 65535"}},
    {"any address", text("2", "0.0.0.0:7102"), 14, {"that others can dial"}},
    {"not loopback",
     text("2", "10.0.0.2:7102"),
     14,
     {"10.0.0.2:7102", "loopback", "insecure = true"}},
    {"no nodes",
     with("1 = \"127.0.0.1:7101\"\n2 = \"127.0.0.1:7102\"\n3 = \"127.0.0.1:7103\"", ""),
     12,
     {"missing or empty"}},
    {"too many nodes", nodes_beyond_the_limit(), 12, {"not 65", "at most 64 nodes"}},
    {"no name", without("name"), 4, {"name = nothing", "1 to 64"}},
    {"name with a line end", text("name", "a\\nb"), 5, {"1 to 64"}},
    {"importance beside the Bully",
     before_journal("[cluster.importance]\n1 = 7"),
     16,
     {"[cluster.importance]", "\"textbook\""}},
    {"importance of nobody", textbook("4 = 7"), 17, {"4 = 7", "one of the ids", "1 2 3"}},
    {"importance below nothing", textbook("1 = -7"), 17, {"1 = -7", "at least 0"}},
    {"protocol raft",
     text("protocol", "raft"),
     6,
     {"raft", "\"bully\", \"invitation\" or \"textbook\""}},
    {"duration without unit", key("T", "100"), 7, {"T = 100", "\"100ms\""}},
    {"duration with a strange unit", text("T", "100 parsec"), 7, {"100 parsec", "duration"}},
    {"duration zero", text("stop_deadline", "0s"), 8, {"above 0"}},
    {"duration too long", text("stop_deadline", "1441min"), 8, {"1441min", "up to 1440min"}},
    {"duration beyond all", text("stop_deadline", "99999999999999999999s"), 8, {"duration"}},
    {"T too short", text("T", "999us"), 7, {"999us", "1ms"}},
    {"timeout not longer than check",
     instead("check_every", "check_every = \"200ms\"\ncoordinator_timeout = \"200ms\""),
     12,
     {"coordinator_timeout", "200ms", "longer than check_every", "300 ms"}},
    {"timeout shorter than T",
     after("check_every", "coordinator_timeout = \"99ms\""),
     12,
     {"coordinator_timeout", "99ms", "at least T"}},
    {"T longer than the deadline of reorganize",
     text("T", "11s"),
     10,
     {"reorganize_deadline", "10s", "at least T = 11 s"}},
    {"switches of a file of before",
     before_journal("[cluster.repairs]\nback_off = true"),
     16,
     {"[cluster.repairs]", "literal = true", "muster check --repair"}},
    {"a switch in one line",
     after("name", "repairs = false"),
     6,
     {"[cluster.repairs]", "literal = true"}},
    {"journal without file", without("file"), 16, {"has no file"}},
    {"journal limit too small", text("limit", "1KB"), 18, {"1KB", "at least \"1MB\""}},
    {"application unknown",
     text("kind", "shreds"),
     20,
     {"shreds", "\"none\", \"shards\", \"postgres\" or \"socket\""}},
    {"rate without shards",
     instead("kind", "kind = \"none\"\nrecords_per_second = 5"),
     21,
     {"records_per_second = 5", "shards"}},
    {"program beside shards",
     good + "program = [\"./p\"]\n",
     21,
     {"program = an array", "kind = \"socket\""}},
    {"hooks beside an application",
     good + "[hooks]\nstop = [\"./stop\"]\n",
     21,
     {"[hooks]", "kind = \"shards\"", "one of the two"}},
    {"hook without a program",
     hooks("stop = []"),
     22,
     {"stop = an array", "a program and its arguments"}},
    {"hook that is a text",
     hooks("start = \"./start --now\""),
     22,
     {"./start --now", "a program and its arguments"}},
    {"hook with a number", hooks("reorganize = [\"deal\", 7]"), 22, {"arguments"}},
    {"hook unknown", hooks("stopp = [\"stop\"]"), 22, {"stopp", "reorganize"}},
    {"rate zero", good + "records_per_second = 0\n", 21, {"= 0", "from 1"}},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(config)

BOOST_DATA_TEST_CASE(is_refused_with_file_line_value_and_expectation,
                     boost::unit_test::data::make(refusals), refused) {
  const auto config = parse_config(refused.text, "/c/n.toml");
  BOOST_REQUIRE_MESSAGE(config.has_error(), "accepted");
  const Failure& failure = config.error();
  BOOST_TEST(static_cast<int>(failure.code) == 64);
  const std::string place = "/c/n.toml:" + std::to_string(refused.line) + ":";
  BOOST_TEST(failure.what.rfind(place, 0) == 0u, failure.what);
  for (const std::string& part : refused.contains) {
    BOOST_TEST(failure.what.find(part) != std::string::npos, failure.what << " lacks " << part);
  }
  BOOST_TEST(failure.what.find('\n') == std::string::npos, failure.what << " has several lines");
}

BOOST_AUTO_TEST_CASE(reads_every_key) {
  const NodeConfig read = accepted(good);
  BOOST_TEST(read.self.value == 3u);
  BOOST_TEST(read.data.string() == "/c/n3");
  BOOST_TEST(read.admin_socket().string() == "/c/n3/admin.sock");
  BOOST_TEST(read.cluster.name == "demo");
  BOOST_TEST(read.cluster.timings.coordinator_timeout == 150ms);
  BOOST_TEST(read.core().repairs == Repairs{});
  BOOST_TEST(read.cluster.nodes.at(NodeId{2}).text() == "127.0.0.1:7102");
  BOOST_TEST(read.journal.value().file.string() == "/c/n3/journal.jsonl");
  BOOST_TEST(read.journal->limit == 64'000'000u);
  BOOST_TEST(read.journal->keep == 1'000'000'000u);
  BOOST_TEST(read.application.kind == "shards");
  BOOST_TEST(read.core().nodes == (NodeSet{NodeId{1}, NodeId{2}, NodeId{3}}));
}

BOOST_AUTO_TEST_CASE(defaults_follow_T_and_check) {
  const NodeConfig read = accepted(text("T", "2s"));
  BOOST_TEST(read.cluster.timings.coordinator_timeout == 2050ms);
}

BOOST_AUTO_TEST_CASE(literal_turns_every_switch_off) {
  const NodeConfig read = accepted(after("name", "literal = true"));
  BOOST_TEST(read.core().literal());
  BOOST_TEST(read.cluster.canonical().find("literal=true\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(other_addresses_are_allowed_when_told_so) {
  std::string other = text("2", "10.0.0.2:7102");
  other.replace(other.find("name = "), 0, "insecure = true\n");
  accepted(other);
}

BOOST_AUTO_TEST_CASE(canonical_text_is_sorted_and_says_the_defaults) {
  const NodeConfig read = accepted(good);
  BOOST_TEST(
      read.cluster.canonical() ==
      "T=100ms\ncalm=1s\ncheck_every=50ms\ncoordinator_timeout=150ms\nhold_down=1s\ninsecure="
      "false\n"
      "literal=false\nname=demo\n"
      "nodes.1=127.0.0.1:7101\nnodes.2=127.0.0.1:7102\nnodes.3=127.0.0.1:7103\n"
      "protocol=bully\nreorganize_deadline=10s\nrepairs.back_off=true\nrepairs.lost_members=true\n"
      "repairs.normal_for_me=true\nrepairs.parallel_calls=true\nrepairs.proofs=true\n"
      "repairs.report_refusals=true\nrepairs.save_promises_only=true\n"
      "repairs.start_over_halted=true\nrepairs.stop_beside_halts=true\nrepairs.tags=true\n"
      "start_deadline=2s\nstop_deadline=2s\n");
}

BOOST_AUTO_TEST_CASE(canonical_text_is_the_same_where_only_this_node_differs) {
  std::string other = instead("id", "id = 2");
  other.replace(other.find("n3"), 2, "xx");
  const auto left = parse_config(good, "/c/n.toml");
  const auto right = parse_config(other, "/elsewhere/n.toml");
  BOOST_REQUIRE((left.has_value() && right.has_value()));
  BOOST_TEST(left->cluster.canonical() == right->cluster.canonical());
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read_back) {
  auto config = parse_config(good, "/c/n.toml").value();
  config.cluster.literal = true;
  config.application.records_per_second = 100;
  const NodeConfig again = written_and_read(config);
  BOOST_TEST(again.cluster.canonical() == config.cluster.canonical());
  BOOST_TEST(again.data.string() == config.data.string());
  BOOST_TEST(again.journal->file.string() == config.journal->file.string());
  BOOST_TEST(again.application.records_per_second == 100u);
  BOOST_TEST(write_config(again) == write_config(config));
}

BOOST_AUTO_TEST_CASE(texts_of_any_letters_are_written_and_read_back) {
  const std::string odd =
      instead("kind", "kind = \"none\"\n[hooks]\nstop = [\"a\\nb\", \"\\u001b\\\"\\\\\"]");
  const NodeConfig config = accepted(odd);
  const NodeConfig again = written_and_read(config, "/c/n.toml");
  BOOST_TEST(again.hooks->stop == config.hooks->stop);
}

BOOST_AUTO_TEST_CASE(keys_inside_each_other_are_not_parsed_beyond_a_size) {
  std::string deep = "a = [\n";
  for (int times = 0; times < 120; ++times) deep += "{" + std::string(4001, 'b') + "=[\n";
  for (std::size_t at = deep.find("bb"); at != std::string::npos; at = deep.find("bb", at))
    deep.replace(at, 2, "b.");
  const std::string what = parse_config(deep, "/c/n.toml").error().what;
  BOOST_TEST(what.find("longer than the 65536 bytes") != std::string::npos, what);
}

BOOST_AUTO_TEST_CASE(a_refusal_is_one_line_that_ends_whatever_a_key_says) {
  const std::string odd = good + "\"\\u001b[2J\\n" + std::string(3000, 'k') + "\" = 1\n";
  const std::string what = parse_config(odd, "/c/n.toml").error().what;
  BOOST_TEST(what.starts_with("/c/n.toml:21: unknown key ?[2J kkk"), what);
  BOOST_TEST(what.size() < 1100u);
}

BOOST_AUTO_TEST_CASE(of_hooks_is_relative_to_the_file_and_written_back) {
  const NodeConfig config =
      accepted(hooks("stop = [\"./stop.sh\", \"./a b\"]\nstart = [\"python3\"]"));
  BOOST_TEST(config.hooks->stop == (std::vector<std::string>{"/c/stop.sh", "./a b"}));
  BOOST_TEST(config.hooks->start == std::vector<std::string>{"python3"});
  BOOST_TEST(config.hooks->reorganize.empty());
  BOOST_TEST(config.hooks->directory == "/c/");
  const NodeConfig again = written_and_read(config, "/c/m.toml");
  BOOST_TEST(write_config(again) == write_config(config));
  BOOST_TEST(again.hooks->stop == config.hooks->stop);
}

BOOST_AUTO_TEST_CASE(of_the_invitation_compares_its_own_switches) {
  const NodeConfig config =
      accepted(instead("protocol", "protocol = \"invitation\"\nliteral = true"));
  BOOST_TEST(config.core().protocol == ProtocolName::invitation);
  BOOST_TEST(config.core().invitation_repairs == invitation::Repairs::none());
  const std::string canonical = config.cluster.canonical();
  BOOST_TEST(canonical.find("protocol=invitation\n") != std::string::npos);
  BOOST_TEST(canonical.find("repairs.known_invitees=false\n") != std::string::npos);
  BOOST_TEST(canonical.find("repairs.stop_beside_halts") == std::string::npos);
  const NodeConfig again = written_and_read(config);
  BOOST_TEST(again.cluster.canonical() == canonical);
}

BOOST_AUTO_TEST_CASE(of_the_textbook_may_say_who_is_important) {
  const NodeConfig config = accepted(textbook("1 = 7"));
  BOOST_TEST(config.core().importance == (std::map<NodeId, std::uint64_t>{{NodeId{1}, 7}}));
  BOOST_TEST(config.cluster.canonical().find("importance.1=7\n") != std::string::npos);
  const NodeConfig again = written_and_read(config);
  BOOST_TEST(again.cluster.canonical() == config.cluster.canonical());
}

BOOST_AUTO_TEST_CASE(a_missing_file_is_named) {
  const auto read = load_config("/nonexistent/n.toml");
  BOOST_REQUIRE(read.has_error());
  BOOST_TEST(static_cast<int>(read.error().code) == 64);
  BOOST_TEST(read.error().what.find("/nonexistent/n.toml") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
