#include "real_nodes.hpp"

#include <fstream>

// `muster init` and `muster config`: they make the files of a cluster, and show them.

namespace muster::apps {
namespace {

namespace fs = std::filesystem;

struct Made : TestDirectory {
  [[nodiscard]] fs::path at(const std::string& name) const { return path / "c" / name; }
  [[nodiscard]] std::string config(int node) const { return config("n" + std::to_string(node)); }
  [[nodiscard]] std::string config(const std::string& of) const { return at(of) / "muster.toml"; }
  [[nodiscard]] Ran init(const std::string& nodes, const std::string& more = "") const {
    return muster("init --nodes " + nodes + " --dir " + (path / "c").string() + ' ' + more);
  }
  [[nodiscard]] Ran look(const std::string& words) const { return muster("config " + words); }
  void change(int node, const std::string& from, const std::string& to) const {
    std::string text = read_all(config(node));
    const std::size_t place = text.find(from);
    BOOST_TEST_REQUIRE(place != std::string::npos, text);
    write_file(config(node), text.replace(place, from.size(), to));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(init, Made)

BOOST_AUTO_TEST_CASE(makes_files_that_are_right_and_no_node_has_the_authority_s_key) {
  const Ran ran = init("db1.example,10.0.0.2:7200,fd00::3", "--cluster demo --observer");
  BOOST_TEST_REQUIRE(ran.code == 0, ran.output);
  says_all(ran, {"n1 to db1.example, n2 to 10.0.0.2, n3 to fd00::3", "TLS does not prove"});
  ends_well(look("check " + config(1) + " " + config(2) + " " + config(3)));
  BOOST_TEST(holds(config(2),
                   "\n1 = \"db1.example:7100\"\n2 = \"10.0.0.2:7200\"\n"
                   "3 = \"[fd00::3]:7100\"\n"));
  const std::string key = read_all(at("ca/ca.key"));
  BOOST_TEST_REQUIRE(key.find("PRIVATE KEY") != std::string::npos);
  for (const auto& file : fs::recursive_directory_iterator(path / "c"))
    if (file.is_regular_file() && file.path() != at("ca/ca.key"))
      BOOST_TEST(!holds(file.path(), key), file.path());
  for (const char* part : {"n1", "n2", "n3", "observer"})
    for (const char* file : {"muster.toml", "tls/ca.crt", "tls/tls.crt", "tls/tls.key"})
      BOOST_TEST(fs::is_regular_file(at(part) / file), at(part) / file);
  const fs::perms key_s = fs::status(at("n1/tls/tls.key")).permissions();
  BOOST_TEST(static_cast<unsigned>(key_s) == 0600u);
}

BOOST_AUTO_TEST_CASE(refuses_what_would_not_work_and_makes_nothing) {
  const struct {
    const char* nodes;
    int code;
    const char* why;
  } table[]{
      {"a,b,a", 2, "a:7100 is listed twice"},
      {"a:1,A:1", 2, "a:1 is listed twice"},
      {"a,localhost", 2, "loopback addresses for all nodes, or for none"},
      {"a,0.0.0.0", 2, "every address of a machine"},
      {"a,", 2, "not a host that others can dial"},
      {"a,b:0", 2, "not a host that others can dial"},
      {"a,1.2.3", 2, "not a host that others can dial"},
  };
  for (const auto& [nodes, code, why] : table) says_why(init(nodes), code, why);
  std::string many = "a";
  for (int id = 2; id <= 65; ++id) many += ",a:" + std::to_string(id);
  says_why(init(many), 64, "at most 64");
  BOOST_TEST(std::distance(fs::directory_iterator(path), {}) == 1);
  write_file(path / "c", "in the way");
  says_why(init("a,b"), 64, "already exists");
}

BOOST_AUTO_TEST_CASE(writes_nothing_over) {
  BOOST_TEST(init("a,b").code == 0);
  const std::string before = read_all(config(1));
  says_why(init("c,d"), 64, "already exists and is not empty");
  BOOST_TEST(read_all(config(1)) == before);
}

BOOST_AUTO_TEST_CASE(makes_a_cluster_that_runs_and_is_seen_by_its_observer) {
  const auto port = ReservedPorts::take(3).value();
  std::string nodes;
  for (std::uint16_t each : port.ports()) nodes += ",localhost:" + std::to_string(each);
  BOOST_TEST_REQUIRE(init(nodes.substr(1), "--observer").code == 0);
  std::vector<Process> running;
  for (int id : {1, 2, 3}) {
    const fs::path log = path / ("log" + std::to_string(id));
    auto process = Process::launch(muster_with({"node", "--config", config(id)}, log));
    BOOST_REQUIRE(process.has_value());
    wait_until_says(*process, log, " is up on ");
    running.push_back(std::move(*process));
  }
  wait_until([&] { return muster("members --config " + config("observer")).code == 0; });
  says_why(muster("node --config " + config("observer")), 64, "is not for this node");
}

BOOST_AUTO_TEST_CASE(gives_nodes_of_one_machine_a_port_each) {
  BOOST_TEST(init("localhost,127.0.0.1,::1", "--port 7300").code == 0);
  BOOST_TEST(
      holds(config(1), "1 = \"localhost:7300\"\n2 = \"127.0.0.1:7301\"\n3 = \"[::1]:7302\""));
}

BOOST_AUTO_TEST_CASE(what_is_shown_is_read_back_to_the_same) {
  BOOST_TEST_REQUIRE(init("a,b").code == 0);
  change(1, "T = \"250ms\"", "T = \"300ms\"");
  change(1, "coordinator_timeout = \"375ms\"\n", "");
  const Ran shown = look("show " + config(1));
  ends_well(shown, {"\nT = \"300ms\"\n", "\ncoordinator_timeout = \"425ms\"  # default\n",
                    "\nquorum = \"off\"  # default\n", "\nlevel = \"info\"  # default\n"});
  BOOST_TEST(shown.output.find("PRIVATE") == std::string::npos);
  write_file(path / "again.toml", shown.output);
  BOOST_TEST(look("show " + (path / "again.toml").string()).output == shown.output);
  const Ran same = look("diff " + config(1) + " " + (path / "again.toml").string());
  BOOST_TEST(same.code == 0);
  BOOST_TEST(same.output == "");
}

BOOST_AUTO_TEST_CASE(what_differs_is_told_and_fails_where_nodes_would_refuse_each_other) {
  BOOST_TEST_REQUIRE(init("a,b").code == 0);
  const Ran its = look("diff " + config(1) + " " + config(2));
  ends_well(its, {"each node's own settings:\n", "  node.id: 1, and 2\n"});
  BOOST_TEST(!says(its, "cluster settings"), its.output);
  change(2, "T = \"250ms\"", "T = \"300ms\"");
  change(2, "coordinator_timeout = \"375ms\"\n", "");
  const Ran cluster = look("diff " + config(1) + " " + config(2));
  says_why(cluster, 1, "would refuse each other");
  BOOST_TEST(
      says(cluster, "which must be the same:\n  T: 250ms, and 300ms\n  coordinator_timeout: "),
      cluster.output);
  BOOST_TEST(says(look("diff --json " + config(1) + " " + config(2)),
                  R"({"key":"T","cluster":true,"first":"250ms","second":"300ms"})"));
  says_why(look("check " + config(1) + " " + config(2)), 1, "muster config diff shows the keys");
  change(2, "T = \"300ms\"", "T = \"250ms\"");
  const std::string text = read_all(config(2));
  write_file(config(2), text.substr(0, text.find("[tls]")) + "[log]\n");
  says_why(look("diff " + config(1) + " " + config(2)), 64, "loopback");
}

BOOST_AUTO_TEST_CASE(a_check_says_what_failures_cost_and_what_T_has_room_for) {
  BOOST_TEST_REQUIRE(init("a,b").code == 0);
  const Ran ran = look("check " + config(1) + " " + config(2));
  says_all(ran, {"n1/muster.toml is valid: node 1 of 2", "n2/muster.toml is valid",
                 "silence of the coordinator: 625 ms", "T = 250 ms must cover two",
                 "more than 125 ms (T/2)"});
  BOOST_TEST(says(look("check --json " + config(1)), R"("T_ns":250000000,"pause_ns":125000000)"));
  says_why(look("check " + config(1) + " /nothing.toml"), 64, "/nothing.toml");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
