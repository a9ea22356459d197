#include "bench/nodes/busy_loops.hpp"
#include "bench/nodes/doors.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

using Act = std::function<Expected<>(Doors&, unsigned)>;

NodeSet these(std::initializer_list<std::uint32_t> nodes) {
  NodeSet set;
  for (const std::uint32_t node : nodes) set.insert(NodeId{node});
  return set;
}

/// In the first second, and then never again.
Act once(std::function<Expected<>(Doors&)> what) {
  return [what = std::move(what)](Doors& doors, unsigned second) {
    return second == 0 ? what(doors) : Expected<>{};
  };
}

Act cut(NodeSet side, NodeSet other) {
  return once([=](Doors& doors) { return doors.cut(side, other); });
}

/// After `what` node 2 is killed and started anew every five seconds: so that there are elections,
/// commits, hooks.
Act with_elections(std::function<Expected<>(Doors&)> what) {
  return [what = std::move(what)](Doors& doors, unsigned second) -> Expected<> {
    if (second == 0) return what(doors);
    return second % 5 == 1 ? doors.restart(NodeId{2}) : Expected<>{};
  };
}

Expected<> nothing(Doors&) {
  return {};
}

/// Of what everybody sends to those, and they to everybody.
Expected<> lossy(Doors& doors, const NodeSet& nodes, unsigned percent) {
  for (NodeId from : doors.all()) {
    for (NodeId at : doors.all()) {
      if (from == at || !(nodes.contains(from) || nodes.contains(at))) continue;
      if (const Expected<> done = doors.hosts().lose(at, from, percent); !done) return done;
    }
  }
  return {};
}

/// The disk becomes slow, and then the node has something to write: it begins a new life.
Act slow_disk(NodeId node, std::chrono::milliseconds delay) {
  return once([=](Doors& doors) {
    const Expected<> slow = doors.disk(node, delay);
    return slow ? doors.restart(node) : slow;
  });
}

Act hung_disk(NodeId node) {
  return with_elections([=](Doors& doors) { return doors.disk(node, -1ms); });
}

/// A store of some lives ago comes back.
Expected<> restored(Doors& doors, unsigned second) {
  const NodeId node{5};
  if (second == 0 || second == 4) {
    doors.cluster().kill(node);
    const Expected<> copied = doors.copy_store(node, second == 4);
    return copied ? doors.cluster().start(node) : copied;
  }
  return second == 2 ? doors.restart(node) : Expected<>{};
}

/// Who opens its journal to write waits, as on a disk that does not answer: a lease on it
/// (fcntl(2)), which the kernel ends after 45 s.
Expected<> hung_journal(Doors& doors) {
  const NodeId node{1};
  doors.cluster().kill(node);
  const auto journal = doors.cluster().journal(node);
  const auto lease =
      std::make_shared<Descriptor>(::open(journal.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600));
  ::fcntl(lease->fd(), F_SETSIG, SIGURG);  // which is ignored, instead of SIGIO, which ends us
  if (::fcntl(lease->fd(), F_SETLEASE, F_RDLCK) != 0)
    return Failure{ExitCode::temporary, "no lease on " + journal.string()};
  doors.keep(lease);
  return doors.cluster().start(node);
}

Act flapping(NodeId node) {
  return [=](Doors& doors, unsigned second) {
    return second % 2 == 0 ? doors.hosts().cut(node) : doors.hosts().heal(node);
  };
}

/// In each second, for less than it takes its members to elect another one.
Act cut_for_a_moment(NodeId node, Duration time) {
  return [=](Doors& doors, unsigned) -> Expected<> {
    if (const Expected<> cut = doors.hosts().cut(node); !cut) return cut;
    doors.go_on_for(time);
    return doors.hosts().heal(node);
  };
}

/// Its `start` fails from now on, and others start anew, so that it is to start.
Act without_program(NodeId node) {
  return once([=](Doors& doors) {
    const Expected<> removed = doors.remove_program(node);
    return removed ? doors.restart(NodeId{2}) : removed;
  });
}

Act one_way(NodeId from) {
  return once([=](Doors& doors) -> Expected<> {
    for (NodeId at : doors.all())
      if (at != from)
        if (const Expected<> done = doors.hosts().lose(at, from); !done) return done;
    return {};
  });
}

Act busy(bool apart) {
  return once([=](Doors& doors) -> Expected<> {
    doors.keep(std::make_shared<BusyLoops>(apart));
    return {};
  });
}

Act limited(int resource) {
  return with_elections([=](Doors& doors) { return doors.limit(NodeId{1}, resource); });
}

void other_T(NodeConfig& config) {
  if (config.self == NodeId{3}) config.cluster.timings.T = config.cluster.timings.T * 9 / 10;
}

std::vector<DoorsRow> links() {
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
       .what = "... programs take 0.7 s to stop",
       .bad = these({1, 2}),
       .act = cut(these({1, 2}), these({3, 4, 5})),
       .stop_for = 700ms},
      {.name = "coordinator-cut-slow",
       .what = "1 2 3 4 | 5, programs take 0.7 s to stop",
       .bad = these({5}),
       .act = cut(these({5}), these({1, 2, 3, 4})),
       .stop_for = 700ms},
      {.name = "cut-5-4",
       .what = "the link between 5 and 4",
       .bad = these({4, 5}),
       .act = cut(these({5}), these({4}))},
      {.name = "cut-5-1",
       .what = "the link between 5 and 1",
       .bad = these({1}),
       .act = cut(these({5}), these({1})),
       .T = 300ms},
      {.name = "one-way-5",
       .what = "what 5 sends is lost",
       .bad = these({5}),
       .act = one_way(NodeId{5})},
      {.name = "one-way-1",
       .what = "what 1 sends is lost",
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
       .what = "the links from 3 to 4 and 5",
       .act = cut(these({3}), these({4, 5}))},
      {.name = "lossy", .what = "30 % of all is lost", .act = once([](Doors& doors) {
                                                         return lossy(doors, doors.all(), 30);
                                                       })},
      {.name = "lossy-1",
       .what = "30 % of what 1 sends and gets",
       .bad = these({1}),
       .act = once([](Doors& doors) { return lossy(doors, {NodeId{1}}, 30); })},
      {.name = "delay-1",
       .what = "1 is 60 ms away, both ways",
       .bad = these({1}),
       .act = once([](Doors& doors) { return doors.hosts().delay(NodeId{1}, 60ms); })},
      {.name = "slow-link-1",
       .what = "32 kbit/s to and from 1",
       .bad = these({1}),
       .act = once([](Doors& doors) { return doors.hosts().limit_rate(NodeId{1}, 32); })},
  };
}

std::vector<DoorsRow> disks() {
  return {
      {.name = "slow-disk-1",
       .what = "1 restarts, each sync 120 ms",
       .bad = these({1}),
       .act = slow_disk(NodeId{1}, 120ms),
       .disks = these({1})},
      {.name = "slow-disk-1-T300",
       .what = "1 restarts, each sync 320 ms",
       .bad = these({1}),
       .act = slow_disk(NodeId{1}, 320ms),
       .T = 300ms,
       .disks = these({1})},
      {.name = "slow-disk-5",
       .what = "5 restarts, each sync 120 ms",
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
       .act = with_elections([](Doors& doors) { return doors.fill_disk(NodeId{1}); }),
       .small_disks = these({1})},
      {.name = "start-fails-1",
       .what = "the program of 1 is gone, 2 restarts",
       .bad = these({1, 2}),
       .act = without_program(NodeId{1}),
       .own_programs = these({1})},
      {.name = "restored-5",
       .what = "5 comes back with an older store",
       .bad = these({5}),
       .act = restored},
  };
}

std::vector<DoorsRow> pipes() {
  return {
      {.name = "unread-output",
       .what = "output of all is a full pipe, 2 restarts",
       .bad = these({2}),
       .act = with_elections(nothing),
       .unread = true},
      {.name = "hung-journal-1",
       .what = "1's journal does not answer, 2 restarts",
       .bad = these({2}),
       .act = with_elections(hung_journal)},
  };
}

std::vector<DoorsRow> machine() {
  return {
      {.name = "differs-3",
       .what = "3 has another T",
       .bad = these({3}),
       .act = once(nothing),
       .from_start = true,
       .configure = other_T},
      {.name = "busy", .what = "two busy loops of this session", .act = busy(false)},
      {.name = "busy-apart", .what = "two busy loops, a session each", .act = busy(true)},
      {.name = "no-descriptors-1",
       .what = "1 has none left, 2 restarts every 5 s",
       .bad = these({1, 2}),
       .act = limited(RLIMIT_NOFILE)},
      {.name = "no-memory-1",
       .what = "1 gets no more, 2 restarts every 5 s",
       .bad = these({1, 2}),
       .act = limited(RLIMIT_AS)},
      {.name = "no-threads-1",
       .what = "1 may make none, 2 restarts every 5 s",
       .bad = these({1, 2}),
       .act = limited(RLIMIT_NPROC),
       .as_nobody = true},
  };
}

}  // namespace

const std::vector<DoorsRow>& doors_rows() {
  static const std::vector<DoorsRow> rows = [] {
    std::vector<DoorsRow> all;
    for (auto part : {links(), disks(), pipes(), machine()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return rows;
}

}  // namespace muster::apps
