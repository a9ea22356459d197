#include "nodes.hpp"

#include <muster/detail/values/kinds.hpp>

#include <boost/json/parse.hpp>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace muster::apps {
namespace {

/// The nodes 1 and 2 of a cluster. Each test starts one of them or both.
struct Pair : Nodes {
  explicit Pair(ProtocolName protocol = ProtocolName::bully) : Nodes(2, protocol) {}
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(command, Pair)

BOOST_AUTO_TEST_CASE(help_is_everywhere) {
  std::istringstream commands(
      ",demo,node,run,status,members,top,wait,why,history,step-down,drain,elect,check,verify,"
      "replay,"
      "draw,simulate,election,store,store inspect");
  for (std::string command; std::getline(commands, command, ',');) {
    ends_well(muster(command + " --help"), {"Usage:"});
  }
}

BOOST_AUTO_TEST_CASE(version) {
  const Ran ran = muster("--version");
  BOOST_TEST(ran.code == 0);
  BOOST_TEST(ran.output.starts_with("muster "));
}

BOOST_AUTO_TEST_CASE(wrong_usage_is_2) {
  says_why(muster(""), 2, "subcommand");
  says_why(muster("chekc"), 2, "no command 'muster chekc'; see muster --help");
  says_why(muster("store inspec"), 2, "no command 'muster store inspec'; see muster store --help");
  says_why(muster("store"), 2, "see muster store --help");
  says_why(muster("simulate --faults none,crash"), 2, "'none' cannot be combined");
  says_why(muster("node"), 2, "--config");
  says_why(muster("status"), 2, "--dir");
  says_why(muster("demo --random soon"), 2, "soon");
  says_why(muster("demo --nodes 0"), 2, "--nodes 0");
  says_why(muster("demo --script /nothing"), 2, "/nothing");
  says_why(muster("demo --dir /proc"), 2, "/proc");
}

BOOST_AUTO_TEST_CASE(a_bad_configuration_is_64) {
  const std::string wrong = directory.path / "n.toml";
  std::ofstream(wrong) << "[node]\nid = 0\n";
  says_why(muster("node --config " + wrong), 64, "n.toml:2: id = 0");
  says_why(muster("node --config /nothing.toml"), 64, "/nothing.toml");
  says_why(muster("members --config " + wrong), 64, "n.toml:2");
}

BOOST_AUTO_TEST_CASE(a_node_that_does_not_run_is_5) {
  says_why(muster("status --dir " + data(1)), 5, data(1));
  says_why(muster("members --config " + file(1)), 5, "no node");
}

BOOST_AUTO_TEST_CASE(status_and_members_of_nodes_that_run) {
  const Process one = start(1);
  const Process two = start(2);
  const Ran members = until(0, "members --config " + file(1) + " --json");
  BOOST_TEST(members.output.find("{\"node\":1,\"status\":") == 0u, members.output);
  BOOST_TEST(says(members, "\n{\"node\":2,\"status\":"), members.output);
  says_all(until(0, "status --config " + file(2) + " --json"),
           {"\"coordinator\":2", "\"protocol\":\"bully\""});
}

BOOST_AUTO_TEST_CASE(nodes_of_another_protocol_say_so_and_the_textbook_s_warn) {
  for (const auto protocol : {ProtocolName::invitation, ProtocolName::textbook}) {
    const std::string name(enumerator_name(protocol));
    Pair pair(protocol);
    const Process one = pair.start(1);
    const Process two = pair.start(2);
    pair.until(0, "members --config " + pair.file(1) + " --json");
    const Ran status = pair.until(0, "status --config " + pair.file(1) + " --json");
    BOOST_TEST(says(status, "\"coordinator\":2"), status.output);
    BOOST_TEST(says(status, "\"protocol\":\"" + name + "\""), status.output);
    const std::string said = read_all(pair.directory.path / "n1.log");
    const bool warned = said.find(" warning muster: protocol = \"textbook\"") != std::string::npos;
    BOOST_TEST(warned == (protocol == ProtocolName::textbook), said);
  }
}

/// A pipe that is full and that nobody reads, so that each write to it blocks.
PipeEnds full_pipe() {
  PipeEnds ends = make_pipe().value();
  const int flags = fcntl(ends.write.fd(), F_GETFL);
  fcntl(ends.write.fd(), F_SETFL, flags | O_NONBLOCK);
  const std::string much(4096, 'x');
  while (write(ends.write.fd(), much.data(), much.size()) > 0) continue;
  fcntl(ends.write.fd(), F_SETFL, flags);
  return ends;
}

// If nobody reads the node's output, the node drops that output and goes on.
BOOST_AUTO_TEST_CASE(output_that_nobody_reads_holds_no_node_up) {
  Nodes nodes(1);
  auto config = load_config(nodes.file(1)).value();
  for (const std::string kind : {"node", "run", "shards"}) {
    const PipeEnds pipe = full_pipe();
    config.application.kind = kind == "shards" ? kind : "none";
    config.application.records_per_second = 1000;
    std::ofstream(nodes.file(1)) << write_config(config);
    std::vector<std::string> words{kind == "run" ? "run" : "node", "--config", nodes.file(1)};
    if (kind == "run")
      words.insert(words.end(), {"--", "/bin/sh", "-c", "echo told; exec tail -f /dev/null"});
    ProcessOptions options = muster_with(words, nodes.directory.path / "n1.log");
    options.standard = {-1, pipe.write.fd(), -1};
    options.inherited = {pipe.write.fd()};
    options.environment = {"MUSTER_RECORD_PIPE=" + std::to_string(pipe.write.fd())};
    auto process = Process::launch(options);
    BOOST_REQUIRE(process.has_value());
    nodes.until(0, "status --config " + nodes.file(1));
    const Ran elected = nodes.muster("elect --config " + nodes.file(1) + " --reason 'to see'");
    BOOST_TEST(elected.code == 0, kind << ": " << elected.output);
    process->signal(SIGTERM);
    const int status = process->wait();
    BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0), kind << describe_end(status));
  }
}

BOOST_AUTO_TEST_CASE(a_signal_lets_a_node_leave_in_order_with_0) {
  for (int number : {SIGTERM, SIGINT}) {
    Process node = start(1);
    node.signal(number);
    const int status = node.wait();
    BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0), describe_end(status));
  }
}

BOOST_AUTO_TEST_CASE(a_second_process_on_one_store_is_75_and_names_the_first) {
  const Process node = start(1);
  const Ran second = muster("node --config " + file(1));
  says_why(second, 75, std::to_string(node.pid()));
}

// Each line of a JSON log is one object, from the first election to the reason for the node's end.
BOOST_AUTO_TEST_CASE(a_log_of_json_has_one_object_a_line) {
  auto config = load_config(file(1)).value();
  config.log.format = LogFormat::json;
  std::ofstream(file(1)) << write_config(config);
  {
    const Process node = start(1);
    until(0, "status --config " + file(1));
  }
  const Process node = start(1);
  const Ran second = muster("node --config " + file(1) + " --log json");
  BOOST_TEST(second.code == 75);
  std::istringstream lines(read_all(directory.path / "n1.log") + second.output);
  std::string levels;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("node 1 of ")) continue;  // not a line of the log
    const auto object = boost::json::parse(line).as_object();
    BOOST_TEST(object.at("node").as_int64() == 1);
    BOOST_TEST(object.at("time").as_string().size() == 24u);
    levels += std::string(object.at("level").as_string()) + ' ';
    BOOST_TEST(!object.at("text").as_string().empty());
  }
  BOOST_TEST(levels.find("info") != std::string::npos, levels);
  BOOST_TEST(levels.ends_with("error "), levels);
}

BOOST_AUTO_TEST_CASE(an_address_in_use_is_75) {
  const Process node = start(1);
  // Starts a second node with the same address, but with another directory.
  auto config = load_config(file(1)).value();
  config.data = directory.path / "other";
  const std::string other = directory.path / "other.toml";
  std::ofstream(other) << write_config(config);
  const Ran second = muster("node --config " + other);
  says_why(second, 75, config.cluster.nodes.at(NodeId{1}).text());
}

BOOST_AUTO_TEST_CASE(a_store_of_another_cluster_is_65) {
  {
    Process node = start(1);
    node.signal(SIGTERM);
    node.wait();
  }
  auto config = load_config(file(1)).value();
  config.cluster.name = "another";
  std::ofstream(file(1)) << write_config(config);
  says_why(muster("node --config " + file(1)), 65, "another");
}

BOOST_AUTO_TEST_CASE(a_node_ends_with_the_process_that_holds_its_death_pipe) {
  auto pipe = make_pipe().value();
  auto options = muster_with({"node", "--config", file(1)}, directory.path / "log");
  options.inherited = {pipe.read.fd()};
  options.environment = {"MUSTER_DEATH_PIPE=" + std::to_string(pipe.read.fd())};
  auto node = Process::launch(options);
  BOOST_REQUIRE(node.has_value());
  pipe.write = Descriptor();
  BOOST_TEST(WIFSIGNALED(node->wait()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
