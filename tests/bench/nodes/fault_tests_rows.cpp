#include "bench/nodes/busy_loops.hpp"
#include "bench/nodes/fault_tests.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

using Act = std::function<Expected<>(FaultTest&, unsigned)>;

NodeSet these(std::initializer_list<std::uint32_t> nodes) {
  NodeSet set;
  for (const std::uint32_t node : nodes) set.insert(NodeId{node});
  return set;
}

/// A fault that does `what` once, in the first second of the row.
Act once(std::function<Expected<>(FaultTest&)> what) {
  return [what = std::move(what)](FaultTest& test, unsigned second) {
    return second == 0 ? what(test) : Expected<>{};
  };
}

Act cut(NodeSet side, NodeSet other) {
  return once([=](FaultTest& test) { return test.cut(side, other); });
}

/// Does `what` first. Then it restarts node 2 every five seconds, so that there are elections,
/// commits and hooks.
Act with_elections(std::function<Expected<>(FaultTest&)> what) {
  return [what = std::move(what)](FaultTest& test, unsigned second) -> Expected<> {
    if (second == 0) return what(test);
    return second % 5 == 1 ? test.restart(NodeId{2}) : Expected<>{};
  };
}

Expected<> nothing(FaultTest&) {
  return {};
}

/// Loses this percentage of all messages from and to `nodes`.
Expected<> lossy(FaultTest& test, const NodeSet& nodes, unsigned percent) {
  for (NodeId from : test.all()) {
    for (NodeId at : test.all()) {
      if (from == at || !(nodes.contains(from) || nodes.contains(at))) continue;
      if (const Expected<> done = test.hosts().lose(at, from, percent); !done) return done;
    }
  }
  return {};
}

/// Makes the node's disk slow, and restarts the node so that the node has something to write.
Act slow_disk(NodeId node, std::chrono::milliseconds delay) {
  return once([=](FaultTest& test) {
    const Expected<> slow = test.disk(node, delay);
    return slow ? test.restart(node) : slow;
  });
}

Act hung_disk(NodeId node) {
  return with_elections([=](FaultTest& test) { return test.disk(node, -1ms); });
}

/// Replaces a node's store by a copy from some lives ago.
Expected<> restored(FaultTest& test, unsigned second) {
  const NodeId node{5};
  if (second == 0 || second == 4) {
    test.cluster().kill(node);
    const Expected<> copied = test.copy_store(node, second == 4);
    return copied ? test.cluster().start(node) : copied;
  }
  return second == 2 ? test.restart(node) : Expected<>{};
}

/// Makes each attempt to open the journal for writing wait, as if the disk did not answer. The
/// bench holds a lease on the file (fcntl(2)). The kernel ends that lease after 45 s.
Expected<> hung_journal(FaultTest& test) {
  const NodeId node{1};
  test.cluster().kill(node);
  const auto journal = test.cluster().journal(node);
  const auto lease =
      std::make_shared<Descriptor>(::open(journal.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600));
  // SIGURG is ignored; the default, SIGIO, would end this process.
  ::fcntl(lease->fd(), F_SETSIG, SIGURG);
  if (::fcntl(lease->fd(), F_SETLEASE, F_RDLCK) != 0)
    return Failure{ExitCode::temporary, "cannot take a lease on " + journal.string()};
  test.keep(lease);
  return test.cluster().start(node);
}

Act flapping(NodeId node) {
  return [=](FaultTest& test, unsigned second) {
    return second % 2 == 0 ? test.hosts().cut(node) : test.hosts().heal(node);
  };
}

/// Cuts the node off in each second. Each cut is too short for the members to elect another
/// coordinator.
Act cut_for_a_moment(NodeId node, Duration time) {
  return [=](FaultTest& test, unsigned) -> Expected<> {
    if (const Expected<> cut = test.hosts().cut(node); !cut) return cut;
    test.go_on_for(time);
    return test.hosts().heal(node);
  };
}

/// Removes the node's program, so that its `start` fails from now on. Then it restarts another
/// node, so that the node's program is to start.
Act without_program(NodeId node) {
  return once([=](FaultTest& test) {
    const Expected<> removed = test.remove_program(node);
    return removed ? test.restart(NodeId{2}) : removed;
  });
}

Act one_way(NodeId from) {
  return once([=](FaultTest& test) -> Expected<> {
    for (NodeId at : test.all())
      if (at != from)
        if (const Expected<> done = test.hosts().lose(at, from); !done) return done;
    return {};
  });
}

Act busy(bool apart) {
  return once([=](FaultTest& test) -> Expected<> {
    test.keep(std::make_shared<BusyLoops>(apart));
    return {};
  });
}

Act limited(int resource) {
  return with_elections([=](FaultTest& test) { return test.limit(NodeId{1}, resource); });
}

void other_T(NodeConfig& config) {
  if (config.self == NodeId{3}) config.cluster.timings.T = config.cluster.timings.T * 9 / 10;
}

std::vector<FaultRow> links() {
  return {
      {.name = "calm", .what = "no fault", .act = once(nothing)},
      {.name = "elections",
       .what = "node 2 killed and started every 5 s",
       .bad = these({2}),
       .act = with_elections(nothing)},
      {.name = "whole-cut",
       .what = "1 2 | 3 4 5",
       .bad = these({1, 2}),
       .act = cut(these({1, 2}), these({3, 4, 5}))},
      {.name = "whole-cut-slow-stops",
       .what = "1 2 | 3 4 5, programs take 0.7 s to stop",
       .bad = these({1, 2}),
       .act = cut(these({1, 2}), these({3, 4, 5})),
       .stop_for = 700ms},
      {.name = "coordinator-cut-slow",
       .what = "1 2 3 4 | 5, programs take 0.7 s to stop",
       .bad = these({5}),
       .act = cut(these({5}), these({1, 2, 3, 4})),
       .stop_for = 700ms},
      {.name = "cut-5-4",
       .what = "the link between 5 and 4 is cut",
       .bad = these({4, 5}),
       .act = cut(these({5}), these({4}))},
      {.name = "cut-5-1",
       .what = "the link between 5 and 1 is cut",
       .bad = these({1}),
       .act = cut(these({5}), these({1})),
       .T = 300ms},
      {.name = "one-way-5",
       .what = "all packets from 5 are lost",
       .bad = these({5}),
       .act = one_way(NodeId{5})},
      {.name = "one-way-1",
       .what = "all packets from 1 are lost",
       .bad = these({1}),
       .act = one_way(NodeId{1})},
      {.name = "flapping-1",
       .what = "1 is cut off every other second",
       .bad = these({1}),
       .act = flapping(NodeId{1})},
      {.name = "flapping-5",
       .what = "5 is cut off every other second",
       .bad = these({5}),
       .act = flapping(NodeId{5})},
      {.name = "coordinator-250ms",
       .what = "5 is cut off for 250 ms each second",
       .bad = these({5}),
       .act = cut_for_a_moment(NodeId{5}, 250ms)},
      {.name = "cut-3-45",
       .what = "the links from 3 to 4 and 5 are cut",
       .act = cut(these({3}), these({4, 5}))},
      {.name = "lossy",
       .what = "30 % of all packets are lost",
       .act = once([](FaultTest& test) { return lossy(test, test.all(), 30); })},
      {.name = "lossy-1",
       .what = "30 % of the packets from and to 1 are lost",
       .bad = these({1}),
       .act = once([](FaultTest& test) { return lossy(test, {NodeId{1}}, 30); })},
      {.name = "delay-1",
       .what = "packets to and from 1 take 60 ms longer",
       .bad = these({1}),
       .act = once([](FaultTest& test) { return test.hosts().delay(NodeId{1}, 60ms); })},
      {.name = "slow-link-1",
       .what = "the link of 1 has 32 kbit/s",
       .bad = these({1}),
       .act = once([](FaultTest& test) { return test.hosts().limit_rate(NodeId{1}, 32); })},
  };
}

std::vector<FaultRow> disks() {
  return {
      {.name = "slow-disk-1",
       .what = "each fsync of 1 takes 120 ms longer; 1 restarts",
       .bad = these({1}),
       .act = slow_disk(NodeId{1}, 120ms),
       .disks = these({1})},
      {.name = "slow-disk-1-T300",
       .what = "each fsync of 1 takes 320 ms longer; 1 restarts",
       .bad = these({1}),
       .act = slow_disk(NodeId{1}, 320ms),
       .T = 300ms,
       .disks = these({1})},
      {.name = "slow-disk-5",
       .what = "each fsync of 5 takes 120 ms longer; 5 restarts",
       .bad = these({5}),
       .act = slow_disk(NodeId{5}, 120ms),
       .disks = these({5})},
      {.name = "hung-disk-1",
       .what = "1's disk hangs, 2 restarts every 5 s",
       .bad = these({1, 2}),
       .act = hung_disk(NodeId{1}),
       .disks = these({1})},
      {.name = "hung-disk-5",
       .what = "5's disk hangs, 2 restarts every 5 s",
       .bad = these({5, 2}),
       .act = hung_disk(NodeId{5}),
       .disks = these({5})},
      {.name = "full-disk-1",
       .what = "1's disk is full, 2 restarts every 5 s",
       .bad = these({1, 2}),
       .act = with_elections([](FaultTest& test) { return test.fill_disk(NodeId{1}); }),
       .small_disks = these({1})},
      {.name = "start-fails-1",
       .what = "the program of 1 is removed, 2 restarts",
       .bad = these({1, 2}),
       .act = without_program(NodeId{1}),
       .own_programs = these({1})},
      {.name = "restored-5",
       .what = "5 restarts with an older copy of its store",
       .bad = these({5}),
       .act = restored},
  };
}

std::vector<FaultRow> pipes() {
  return {
      {.name = "unread-output",
       .what = "the output of all nodes is a full pipe, 2 restarts",
       .bad = these({2}),
       .act = with_elections(nothing),
       .unread = true},
      {.name = "hung-journal-1",
       .what = "opening 1's journal hangs, 2 restarts",
       .bad = these({2}),
       .act = with_elections(hung_journal)},
  };
}

std::vector<FaultRow> machine() {
  return {
      {.name = "differs-3",
       .what = "3 has another T",
       .bad = these({3}),
       .act = once(nothing),
       .from_start = true,
       .configure = other_T},
      {.name = "busy", .what = "two busy loops in the session of the nodes", .act = busy(false)},
      {.name = "busy-apart",
       .what = "two busy loops, each in a session of its own",
       .act = busy(true)},
      {.name = "no-descriptors-1",
       .what = "1 has no file descriptor left, 2 restarts every 5 s",
       .bad = these({1, 2}),
       .act = limited(RLIMIT_NOFILE)},
      {.name = "no-memory-1",
       .what = "1 gets no more memory, 2 restarts every 5 s",
       .bad = these({1, 2}),
       .act = limited(RLIMIT_AS)},
      {.name = "no-threads-1",
       .what = "1 may start no thread, 2 restarts every 5 s",
       .bad = these({1, 2}),
       .act = limited(RLIMIT_NPROC),
       .as_nobody = true},
  };
}

}  // namespace

const std::vector<FaultRow>& fault_rows() {
  static const std::vector<FaultRow> rows = [] {
    std::vector<FaultRow> all;
    for (auto part : {links(), disks(), pipes(), machine()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return rows;
}

}  // namespace muster::apps
