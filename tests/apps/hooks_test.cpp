#include "real_nodes.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <map>
#include <set>
#include <sstream>
#include <tuple>

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> shell(const std::string& command) {
  return {"/bin/sh", "-c", command};
}

/// A cluster of one node with hooks. The hooks run in the directory of the test.
struct Hooked : RealNodes {
  Hooked() : RealNodes(1) { hooks.emplace(); }
  /// Starts the node, waits until the function `so` returns true, and lets the node leave in order.
  void runs_until(const std::function<bool()>& so) {
    node(1);
    wait_until(so);
    leaves_in_order();
  }
};

const std::string document = read_all(MUSTER_DOCUMENTS "/how-to/programs.md");

/// The keys of an object, in their order. Arrays of objects also give the keys of their first
/// object.
std::string keys_of(const boost::json::value& value) {
  if (value.is_array()) return value.get_array().empty() ? "" : keys_of(value.get_array()[0]);
  if (!value.is_object()) return "";
  std::string keys;
  for (const auto& [key, field] : value.get_object())
    keys += std::string(key) + "(" + keys_of(field) + ") ";
  return keys;
}

/// The records of the shards example: for each group and shard, the nodes that wrote a record.
struct ShardRecords {
  explicit ShardRecords(const RealNodes& nodes) {
    for (const auto& [node, address] : nodes.cluster.nodes) {
      std::istringstream lines(
          read_all(nodes.file("shards-" + std::to_string(node.value)) / "records"));
      std::uint32_t shard = 0;
      std::uint64_t sequence = 0;
      for (GroupNumber group;
           lines >> shard >> group.counter >> group.coordinator.value >> sequence &&
           lines.get() == '\n';) {
        repeated += records.emplace(shard, group, sequence).second ? 0 : 1;
        workers[group][shard].insert(node);
      }
    }
  }

  /// The latest group in which exactly `nodes` nodes wrote records and every shard has a record. No
  /// value if no group is like that.
  [[nodiscard]] std::optional<GroupNumber> complete(std::size_t nodes) const {
    for (auto group = workers.rbegin(); group != workers.rend(); ++group) {
      std::set<NodeId> at_work;
      for (const auto& [shard, by] : group->second) at_work.insert(by.begin(), by.end());
      if (group->second.size() == 12 && at_work.size() == nodes) return group->first;
    }
    return std::nullopt;
  }

  std::set<std::tuple<std::uint32_t, GroupNumber, std::uint64_t>> records;
  std::map<GroupNumber, std::map<std::uint32_t, std::set<NodeId>>> workers;
  int repeated = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(hooks, Hooked)

BOOST_AUTO_TEST_CASE(of_the_shell_carry_reports_and_definitions) {
  hooks->stop = shell("echo stop >>calls; printf 'held by %s' $MUSTER_NODE");
  hooks->reorganize = shell(
      "echo reorganize >>calls; for m in $MUSTER_MEMBERS; do cat $MUSTER_REPORTS/$m; done; "
      "printf ' in %s of %s' $MUSTER_GROUP $MUSTER_COORDINATOR");
  hooks->start = shell(
      "echo start >>calls; cp $MUSTER_DEFINITION_FILE definition; "
      "echo $MUSTER_GROUP >group; pwd -P >where; : >ready");
  runs_until([&] { return there("ready"); });
  std::string group = read_all(file("group"));
  group.pop_back();
  BOOST_TEST(read_all(file("definition")) == "held by 1 in " + group + " of 1");
  BOOST_TEST(read_all(file("calls")) == "stop\nreorganize\nstart\nstop\n");
  BOOST_TEST(read_all(file("where")) == std::filesystem::canonical(directory.path).string() + "\n");
}

BOOST_AUTO_TEST_CASE(of_python_read_and_write_json) {
  write_program(file("hook.py"), R"(#!/usr/bin/env python3
import json, sys

told = json.load(sys.stdin)
if told["hook"] == "stop":
    json.dump({"node": told["node"], "reason": told["reason"]}, sys.stdout)
elif told["hook"] == "reorganize":
    reports = [json.loads(member["report"]) for member in told["members"]]
    json.dump({"reports": reports, "group": told["group"], "first": told["members"][0]}, sys.stdout)
else:
    definition = json.loads(told["definition"])
    definition["agrees"] = definition["group"] == told["group"]
    with open("started.new", "w") as file:
        json.dump(definition, file)
    import os
    os.rename("started.new", "started")
)");
  hooks->stop = hooks->reorganize = hooks->start = {file("hook.py")};
  runs_until([&] { return there("started"); });
  const auto started = boost::json::parse(read_all(file("started"))).as_object();
  BOOST_TEST(started.at("agrees").as_bool());
  BOOST_TEST(boost::json::serialize(started.at("reports")) ==
             R"([{"node":1,"reason":"own_election"}])");
  const auto& first = started.at("first").as_object();
  BOOST_TEST(first.at("node").as_int64() == 1);
  BOOST_TEST(first.at("empty").as_bool());
  BOOST_TEST((first.at("group").is_null() && first.at("definition").is_null()));
}

BOOST_AUTO_TEST_CASE(of_the_documents_run_as_they_stand) {
  write_program(file("shards.py"), block_of(document, "python"));
  hooks.reset();
  hooks = parse_config(read_all(configure(1)) + block_of(document, "toml"), file("n1.toml"))
              .value()
              .hooks;
  BOOST_REQUIRE(hooks.has_value());
  runs_until([&] { return holds(log(1), "working with [1] for group ["); });
}

BOOST_AUTO_TEST_CASE(are_told_what_the_documents_say) {
  hooks->stop = hooks->reorganize = hooks->start =
      shell("cat >told; mv told told-$MUSTER_HOOK; [ $MUSTER_HOOK != start ] || : >ready");
  for (int life : {1, 2}) {  // in its second life the node already has a task, which was assigned
                             // in its first life
    BOOST_TEST_CONTEXT("life " << life) {
      std::filesystem::remove(file("ready"));
      runs_until([&] { return there("ready"); });
    }
  }
  for (const std::string hook : {"stop", "reorganize", "start"}) {
    const auto begin = document.find("`{\"hook\":\"" + hook) + 1;
    const auto shown =
        boost::json::parse(document.substr(begin, document.find('`', begin) - begin));
    const auto told = boost::json::parse(read_all(file("told-" + hook)));
    BOOST_TEST(keys_of(told) == keys_of(shown), hook);
  }
}

BOOST_AUTO_TEST_CASE(without_a_reorganize_the_definition_is_who_is_there) {
  hooks->start = shell("cp $MUSTER_DEFINITION_FILE definition; : >ready");
  runs_until([&] { return there("ready"); });
  BOOST_TEST(read_all(file("definition")) == R"({"coordinator":1,"members":[1]})");
}

BOOST_AUTO_TEST_CASE(that_end_with_75_are_run_again) {
  const std::string again =
      "echo >>tries-$MUSTER_HOOK; [ $(wc -l <tries-$MUSTER_HOOK) -ge 3 ] || "
      "exit 75; : >ready-$MUSTER_HOOK";
  hooks->stop = hooks->reorganize = hooks->start = shell(again);
  runs_until([&] { return there("ready-start"); });
  BOOST_TEST(read_all(file("tries-start")) == "\n\n\n");
}

BOOST_AUTO_TEST_CASE(that_fail_are_named) {
  hooks->reorganize = shell("exit 3");
  runs_until([&] { return holds(journal(1), "reorganize (/bin/sh): it ended with exit code 3"); });
  hooks->reorganize = {file("nothing")};
  write_program(file("nothing"), "#!/nowhere/at/all\n");
  runs_until([&] {
    return holds(journal(1), "reorganize (" + file("nothing").string() + "): cannot start " +
                                 file("nothing").string() + ": No such file or directory");
  });
  hooks->reorganize.clear();
  hooks->stop = shell("echo what it says >&2; kill -9 $$");
  node(1);
  const Ran ended = end(1);
  says_why(ended, 76, "stop failed: stop (/bin/sh): it was ended by signal 9");
  BOOST_TEST(says(ended, "what it says\n"));
}

BOOST_AUTO_TEST_CASE(that_give_too_much_are_refused) {
  hooks->reorganize = shell("head -c 32769 /dev/zero");
  runs_until([&] {
    return holds(journal(1), "it gave more than the 32768 bytes that a definition may have");
  });
  hooks->reorganize.clear();
  hooks->stop = shell("head -c 32769 /dev/zero");
  node(1);
  says_why(end(1), 76, "it gave more than the 32768 bytes that a report may have");
}

BOOST_AUTO_TEST_CASE(may_give_as_much_as_is_carried) {
  hooks->stop = hooks->reorganize = shell("head -c 32768 /dev/zero");
  hooks->start = shell("wc -c <$MUSTER_DEFINITION_FILE >size; : >ready");
  runs_until([&] { return there("ready"); });
  BOOST_TEST(read_all(file("size")) == "32768\n");
}

BOOST_AUTO_TEST_CASE(that_run_are_told_when_they_are_cancelled) {
  hooks->reorganize =
      shell("trap ': >told; exit 1' TERM; : >ready; tail -f /dev/null >/dev/null & wait");
  runs_until([&] { return there("ready"); });
  BOOST_TEST(there("told"));
}

BOOST_AUTO_TEST_CASE(that_do_not_heed_their_cancelling_are_killed_before_the_stop) {
  Held held(file("held"));
  // The first `tail`, a child of the hook, has inherited the lock file, so it holds the lock too.
  hooks->start = shell(
      "trap '' TERM; exec 9>lock; flock 9; exec 3>held; tail -f /dev/null & tail -f /dev/null");
  hooks->stop = shell("flock -n lock echo free >>found || echo held >>found");
  node(1);
  held.wait_for_holder();
  leaves_in_order();
  held.wait_until_free();
  BOOST_TEST(read_all(file("found")) == "free\nfree\n");
  BOOST_TEST(holds(journal(1), "\"hook\":\"start\",\"edge\":\"failed\""));
}

BOOST_AUTO_TEST_CASE(that_overrun_their_stop_are_killed_and_end_the_node) {
  Held held(file("held"));
  hooks->stop = shell("trap '' TERM; exec 3>held; tail -f /dev/null & tail -f /dev/null");
  node(1);
  held.wait_for_holder();
  says_why(end(1), 76, "stop (/bin/sh): it overran its deadline, and was ended by signal 9");
  held.wait_until_free();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(hook_examples)

BOOST_AUTO_TEST_CASE(shards_of_the_shell_survive_their_coordinator) {
  RealNodes nodes(3);
  const std::string script = MUSTER_EXAMPLES "/6-shards.sh";
  nodes.hooks = HooksConfig{{script}, {script}, {script}, {}};
  const auto dealt_to = [&](std::size_t count, GroupNumber after) {
    std::optional<GroupNumber> group;
    wait_until([&] {
      group = ShardRecords(nodes).complete(count);
      return group && *group > after;
    });
    return *group;
  };
  for (std::uint32_t id : {1u, 2u, 3u}) nodes.node(id);
  const GroupNumber first = dealt_to(3, {});
  BOOST_TEST(first.coordinator.value == 3u);
  nodes.processes.at(3).signal(SIGKILL);
  nodes.end(3);
  const GroupNumber second = dealt_to(2, first);
  BOOST_TEST(second.coordinator.value == 2u);
  nodes.node(3);
  dealt_to(3, second);
  for (std::uint32_t id : {1u, 2u, 3u}) nodes.leaves_in_order(id);
  const ShardRecords all(nodes);
  BOOST_TEST(all.repeated == 0);
  for (const auto& [group, shards] : all.workers) {
    for (const auto& [shard, by] : shards) BOOST_TEST(by.size() == 1u);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
