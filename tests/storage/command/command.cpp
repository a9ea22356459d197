#include "apps/muster/commands/commands.hpp"
#include "storage/store_fixture.hpp"

#include <muster/values/hash.hpp>
#include <muster/values/json.hpp>

#include <CLI/CLI.hpp>
#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <fstream>
#include <iostream>
#include <sstream>

#include <unistd.h>

// `muster store inspect|verify DIR`.

namespace muster::test {
namespace {

struct Answer {
  int code = -1;
  std::string out;
  std::string err;
};

/// Collects what is written to a stream while this object lives.
class Caught {
 public:
  explicit Caught(std::ostream& stream) : stream_(stream), before_(stream.rdbuf(text_.rdbuf())) {}
  Caught(const Caught&) = delete;
  Caught& operator=(const Caught&) = delete;
  ~Caught() { stream_.rdbuf(before_); }
  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  std::ostream& stream_;
  std::ostringstream text_;
  std::streambuf* before_;
};

Answer muster(std::vector<std::string> words) {
  Answer answer;
  const Caught out(std::cout);
  const Caught err(std::cerr);
  CLI::App app("muster");
  apps::add_store_command(app, answer.code);
  std::reverse(words.begin(), words.end());  // CLI11 takes them in this order
  app.parse(words);
  answer.out = out.text();
  answer.err = err.text();
  return answer;
}

struct Store : StoreFixture {
  Store() {
    const auto store = open().value();
    store->save(safe_state(9)).value();
    store->write(batch_of({{"shard/1", "one"}, {std::string("\0\n", 2), "two"}})).value();
  }
  /// `muster store WORD DIR ...`
  [[nodiscard]] Answer muster(const char* word, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"store", word, directory.string()};
    words.insert(words.end(), more.begin(), more.end());
    return test::muster(words);
  }
};

std::vector<boost::json::value> lines_of(const std::string& text) {
  std::vector<boost::json::value> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(boost::json::parse(line));
  return lines;
}

BOOST_FIXTURE_TEST_CASE(inspect_prints_state_and_cells, Store) {
  const Answer answer = muster("inspect");
  BOOST_TEST(answer.code == 0);
  BOOST_TEST(answer.err.empty());
  for (const char* part :
       {"node 3 of cluster demo", "incarnation   9", "group         9.5", "40 bytes",
        "S(i).s        Reorganization", "node 2 in life 27, node 4 in life 7", "cells         2",
        "shard/1", "\\x00\\x0a"})
    BOOST_TEST(answer.out.find(part) != std::string::npos, part << " is not in\n" << answer.out);
  BOOST_TEST(answer.out.find("one") == std::string::npos);
  BOOST_TEST(muster("inspect", {"--values"}).out.find("shard/1 = one") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(inspect_as_json_says_the_same, Store) {
  const Answer answer = muster("inspect", {"--json", "--values"});
  BOOST_TEST(answer.code == 0);
  const auto lines = lines_of(answer.out);
  BOOST_REQUIRE(lines.size() == 3U);
  const auto& store = lines[0].as_object();
  const SafeState safe = safe_state(9);
  BOOST_TEST(store.at("cluster").as_string() == "demo");
  BOOST_TEST(store.at("node").to_number<int>() == 3);
  BOOST_TEST(store.at("incarnation").to_number<int>() == 9);
  BOOST_TEST(store.at("counter_limit").to_number<int>() == 25);
  BOOST_TEST(read_json<GroupNumber>(store.at("group")).value() == safe.assigned->group);
  BOOST_TEST(read_json<Digest>(store.at("definition")).value() ==
             digest(safe.assigned->definition.data));
  BOOST_TEST(read_json<StateVector>(store.at("vector")).value() == safe.vector);
  BOOST_TEST(read_json<decltype(safe.seen)>(store.at("seen")).value() == safe.seen);
  BOOST_TEST(store.at("cells").to_number<int>() == 2);
  const auto& cell = lines[2].as_object();
  BOOST_TEST(cell.at("cell").as_string() == "shard/1");
  BOOST_TEST(cell.at("bytes").to_number<int>() == 3);
  BOOST_TEST(read_json<Digest>(cell.at("digest")).value() == digest("one"));
  BOOST_TEST(read_json<Bytes>(cell.at("value")).value() == Bytes{"one"});
}

BOOST_FIXTURE_TEST_CASE(nothing_is_changed, Store) {
  const auto before = std::pair(content(), bytes_of(directory / "lock"));
  BOOST_TEST(muster("inspect").code == 0);
  BOOST_TEST(muster("verify").code == 0);
  BOOST_TEST((std::pair(content(), bytes_of(directory / "lock")) == before));
}

BOOST_FIXTURE_TEST_CASE(verify_says_that_it_holds, Store) {
  const Answer answer = muster("verify");
  BOOST_TEST(answer.code == 0);
  BOOST_TEST(answer.out.find("is intact: the store of node 3, 9 lives, 2 cells") !=
             std::string::npos);
  const auto lines = lines_of(muster("verify", {"--json"}).out);
  BOOST_REQUIRE(lines.size() == 1U);
  BOOST_TEST(lines[0].at("holds").as_bool());
}

BOOST_FIXTURE_TEST_CASE(verify_names_what_is_wrong, Store) {
  std::filesystem::resize_file(file, 8000);
  std::filesystem::remove(log);
  const Answer answer = muster("verify", {"--json"});
  BOOST_TEST(answer.code == 65);
  BOOST_TEST(!lines_of(answer.out).at(0).at("holds").as_bool());
  BOOST_TEST(answer.err.find("safe.sqlite is corrupt") != std::string::npos, answer.err);
  BOOST_TEST(std::count(answer.err.begin(), answer.err.end(), '\n') == 1);
}

// `verify` refuses what `muster node` refuses: the store of another node or cluster, files that
// others may write to, and the rest of a life that was cut off while it made its store.
BOOST_FIXTURE_TEST_CASE(verify_refuses_what_a_node_would, Store) {
  const auto verify = [&](int node, const std::string& cluster) {
    const auto config = temporary.path() / (cluster + ".toml");
    std::ofstream(config) << "[node]\nid = " << node << "\ndata = \"n3\"\n[cluster]\nname = \""
                          << cluster << "\"\n[cluster.nodes]\n2 = \"127.0.0.1:7102\"\n"
                          << "3 = \"127.0.0.1:7103\"\n";
    return muster("verify", {"--config", config.string()});
  };
  const Answer own = verify(3, "demo");
  BOOST_TEST(own.code == 0, own.err);
  for (const Answer& foreign : {verify(2, "demo"), verify(3, "production")}) {
    BOOST_TEST(foreign.code == 65, foreign.out);
    BOOST_TEST(
        foreign.err.find("belongs to node 3 of cluster \"demo\", not to") != std::string::npos,
        foreign.err);
  }
  BOOST_TEST(muster("verify", {"--config", "/nowhere.toml"}).code == 64);
  std::ofstream(directory / "safe.sqlite.new") << "half of one";
  std::filesystem::permissions(directory / "safe.sqlite.new", std::filesystem::perms::all);
  const Answer reachable = muster("verify");
  BOOST_TEST(reachable.code == 65, reachable.out);
  BOOST_TEST(reachable.err.find("is accessible to other users") != std::string::npos,
             reachable.err);
}

BOOST_FIXTURE_TEST_CASE(a_store_in_use_is_named_with_its_holder, Store) {
  const auto held = open().value();
  for (const char* word : {"inspect", "verify"}) {
    const Answer answer = muster(word);
    BOOST_TEST(answer.code == 75);
    BOOST_TEST(answer.err.find("process " + std::to_string(::getpid())) != std::string::npos,
               answer.err);
  }
}

BOOST_AUTO_TEST_CASE(where_there_is_no_store_it_says_so) {
  const TemporaryDirectory empty;
  const Answer answer = muster({"store", "inspect", empty.path().string()});
  BOOST_TEST(answer.code == 65);
  BOOST_TEST(answer.err.find("contains no store") != std::string::npos, answer.err);
  BOOST_TEST(muster({"store", "inspect", (empty.path() / "none").string()}).code == 65);
}

}  // namespace
}  // namespace muster::test
