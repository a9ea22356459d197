#pragma once

#include "life.hpp"

#include <muster/claims/assertions.hpp>

#include <array>
#include <memory>
#include <set>
#include <utility>
#include <vector>

/// A small deterministic world for tests of the protocols: nodes whose lives are the host and the
/// sessions that ship, connections of which each frame is read when the test says, timers, and
/// hooks that end when it says. Every step and every action is checked as it happens (checks.hpp);
/// what does not hold is thrown as a Violation.

namespace muster::test {

/// Configurations of a protocol, as it ships or with these repairs.
Config of_bully(Repairs repairs);
Config of_invitation(invitation::Repairs repairs = {});

/// What ships, without that repair.
Repairs without(bool Repairs::*repair);

struct TestNode {
  Config config;
  std::unique_ptr<Life> life;  ///< none while it is down
  bool paused = false;
  bool silent = false;                  ///< while down: refuses nothing, says nothing
  std::string cluster;                  ///< the text of its configuration
  bool hold_hooks = false;              ///< run and settle let no hook of it end
  SafeState safe;                       ///< safe storage
  std::optional<GroupNumber> accepted;  ///< the highest group chosen or accepted, in any life
  TestApplication application;
  Duration ahead{};                 ///< of the world's clock is this node's: it waited for silence
  std::optional<Duration> returns;  ///< when a node that stood back begins a new life
  std::size_t actions = 0;          ///< performed in all lives
  Event last_event{};               ///< given to `step`
  Actions last_actions{};           ///< what came of it

  [[nodiscard]] bool up() const { return life != nullptr; }
  /// Of the present life, or of none.
  [[nodiscard]] const Protocol& protocol() const;
  [[nodiscard]] const bully::State& state() const { return std::get<bully::State>(protocol()); }
  [[nodiscard]] const host::Calls& calls() const;
  [[nodiscard]] const std::map<Timer, Armed>& timers() const;
};

/// A failure to inject: the node fails right after so many of its actions were performed.
struct Injection {
  std::uint32_t node = 0;
  std::size_t after = 0;
};

/// A connection of two lives: the first has dialled. What one side wrote waits at the other until
/// it is read.
struct Connection {
  struct Coming {
    std::optional<host::Frame> frame;  ///< none: its end
    std::uint64_t order = 0;           ///< when it was written
  };
  struct Side {
    NodeId node;
    bool open = true;  ///< its life can read and write there
    std::deque<Coming> coming{};
  };
  std::array<Side, 2> sides;
};

class World {
 public:
  explicit World(std::uint32_t nodes, Config like = {});
  World(std::uint32_t nodes, Repairs repairs);
  World(World&& other) noexcept;
  World& operator=(World&&) = delete;
  ~World() = default;

  // --- Commands. Each returns false, and does nothing, where it is not possible now.

  /// A node that is down begins a life.
  bool recover(std::uint32_t node);
  /// A node stops at once. A silent one does not even refuse connections.
  bool fail(std::uint32_t node, bool silent = false);
  /// The newest letter that a failed node sent is lost.
  bool lose(std::uint32_t from, std::uint32_t to);
  /// One has dialled the other: now they are connected, and both have read the other's Hello.
  bool connect(std::uint32_t a, std::uint32_t b);
  /// `at` reads all that came from a node that is down, and is refused when it dials it.
  bool refuse(std::uint32_t at, std::uint32_t of);
  /// `at` waits, by its own clock, until the bound of its oldest call to `of` has passed, and of
  /// all that it made before.
  bool silence(std::uint32_t at, std::uint32_t of);
  /// `to` reads what came from `from`, up to the next letter.
  bool deliver(std::uint32_t from, std::uint32_t to);
  bool expire(std::uint32_t node, Timer timer);
  /// The hook that runs ends; where it was cancelled, as one that failed.
  bool end_hook(std::uint32_t node, bool well = true);
  /// As end_hook, but what was cancelled ends well all the same, and then the `stop` that follows.
  bool end_hook_late(std::uint32_t node);
  bool pause(std::uint32_t node);
  /// It goes on; unless it `notices`, as if it had not paused.
  bool resume(std::uint32_t node, bool notices = true);
  bool leave(std::uint32_t node);
  /// A node that is down has another configuration from its next life on, or that of the others
  /// again.
  bool differ(std::uint32_t node);
  /// Their connection breaks, and what was on its way is lost.
  bool reset(std::uint32_t a, std::uint32_t b);
  /// Nothing that `from` wrote is read by `to` any more.
  bool cut(std::uint32_t from, std::uint32_t to);
  void heal() { cuts_.clear(); }
  /// Any event at all, past the sessions: for letters out of order, duplicates and old tickets.
  bool give(std::uint32_t node, const Event& event);

  // --- Running by itself

  /// The oldest thing on its way arrives, no timer. False where nothing is on its way.
  bool run_once();
  /// Everything that can happen without a timer happens, in natural order.
  void run();
  /// As run, but only until `reached(*this)`. False when it never was.
  template <class Predicate>
  bool run_until(Predicate reached) {
    while (!reached(*this))
      if (!run_once()) return false;
    return true;
  }
  /// Time passes until the next step that it leads to. False where it leads to none.
  bool advance();
  /// Runs with timers until all nodes of each of `parts` have been one group for a while, from
  /// `settled_at` on. False when it does not come to that.
  bool settle(const std::vector<NodeSet>& parts, unsigned turns = 1500);
  bool settle(unsigned turns = 1500) { return settle({nodes_.front().config.nodes}, turns); }

  // --- Looking

  [[nodiscard]] const TestNode& operator[](std::uint32_t node) const;
  [[nodiscard]] TestNode& operator[](std::uint32_t node);
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  [[nodiscard]] View view(std::uint32_t node) const;
  /// What the assertions read of each node.
  [[nodiscard]] std::vector<Standing> standings() const;
  /// Those are in one group, in a state of Assertion 2, or 4.
  [[nodiscard]] bool are_one_group(const std::vector<NodeSet>& parts) const;
  [[nodiscard]] bool are_one_group() const { return are_one_group({nodes_.front().config.nodes}); }
  /// How many letters that `from` wrote `to` has still to read.
  [[nodiscard]] std::size_t letters_between(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] bool is_cut(std::uint32_t from, std::uint32_t to) const {
    return cuts_.contains({NodeId{from}, NodeId{to}});
  }
  // Whether that command is possible now.
  [[nodiscard]] bool can_deliver(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] bool can_lose(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] bool can_connect(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] bool can_refuse(std::uint32_t at, std::uint32_t of) const;
  /// All letters sent, in order, while `record` is on.
  [[nodiscard]] const std::vector<Letter>& sent() const { return sent_; }
  /// One line a step: "1  from 2: Halt ..  |  actions  |  view".
  [[nodiscard]] const std::vector<std::string>& journal() const { return journal_; }
  void say(const std::string& line) { journal_.push_back(line); }

  bool record = true;               ///< keep the letters sent and the journal
  bool claim = true;                ///< assertions about several nodes are claimed
  bool volatile_counter = false;    ///< a new life finds no counter in its safe storage
  std::optional<Injection> inject;  ///< performed once
  Duration now{};
  Duration settled_at{};

  // --- What its lives have it do

  void stepped(const TestNode& node, const Event& event, const Actions& actions);
  void sent(const Letter& letter);
  [[nodiscard]] bool fails_now(const TestNode& node);
  [[nodiscard]] std::uint64_t next_order() { return ++order_; }
  void write(NodeId from, host::ConnectionId connection, host::Frame frame);
  void close(NodeId by, host::ConnectionId connection);
  /// It reads the next frame, or the end, of that connection. False where nothing has come.
  bool read(TestNode& node, host::ConnectionId connection);

 private:
  struct Next {
    std::uint64_t order = UINT64_MAX;
    std::function<void()> happen;
  };

  void work(TestNode& node);
  void end_life(TestNode& node, Life::End how);
  void begin_connection(TestNode& dialler, TestNode& other);
  void refuse_dial(TestNode& node, NodeId of);
  [[nodiscard]] bool is_open(NodeId a, NodeId b) const;
  [[nodiscard]] std::vector<host::ConnectionId> connections(NodeId at, NodeId of) const;
  [[nodiscard]] Next next();
  bool pass_time();
  TestNode& at(NodeId node) { return nodes_.at(node.value - 1); }
  [[nodiscard]] const TestNode& at(NodeId node) const { return nodes_.at(node.value - 1); }

  std::vector<TestNode> nodes_;
  std::map<host::ConnectionId, Connection> connections_;
  std::uint64_t last_connection_ = 0;
  std::uint64_t lives_ = 0;
  std::uint64_t order_ = 0;
  std::size_t steps_ = 0;
  std::set<std::pair<NodeId, NodeId>> cuts_;
  std::vector<Letter> sent_;
  std::vector<std::string> journal_;
};

/// All nodes begin a life, and are one group.
World settled(std::uint32_t nodes, Config like = {});
World settled(std::uint32_t nodes, Repairs repairs);

}  // namespace muster::test
