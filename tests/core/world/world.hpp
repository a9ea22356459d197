#pragma once

#include "life.hpp"

#include <muster/claims/assertions.hpp>

#include <array>
#include <memory>
#include <set>
#include <utility>
#include <vector>

/// A small deterministic world for tests of the protocols. Each life consists of the host and the
/// sessions that ship. The test decides when a frame is read, when a timer expires and when a hook
/// ends. Every step and every action is checked as it happens (checks.hpp), and a promise that does
/// not hold is thrown as a Violation.

namespace muster::test {

/// Configurations of a protocol, as it ships or with these repairs.
Config of_bully(Repairs repairs);
Config of_invitation(invitation::Repairs repairs = {});

/// The repairs with every switch on except this one.
Repairs without(bool Repairs::*repair);

struct TestNode {
  Config config;
  std::unique_ptr<Life> life;  ///< null while the node is down
  bool paused = false;
  bool silent = false;      ///< while it is down, it neither refuses connections nor answers
  std::string cluster;      ///< the node's `cluster` text, by which nodes compare configurations
  bool hold_hooks = false;  ///< `run` and `settle` let no hook of this node end
  SafeState safe;           ///< safe storage
  std::optional<GroupNumber> accepted;  ///< the highest group chosen or accepted in any life
  TestApplication application;
  Duration ahead{};  ///< the node's clock is ahead by this, because `silence` made it wait
  std::optional<Duration> returns;  ///< when a node that stepped back begins a new life
  std::size_t actions = 0;          ///< the number of actions performed in all lives
  Event last_event{};               ///< the last event given to `step`
  Actions last_actions{};           ///< the actions that `step` returned for that event

  [[nodiscard]] bool up() const { return life != nullptr; }
  /// The protocol of the present life. If the node is down, an initial one.
  [[nodiscard]] const Protocol& protocol() const;
  [[nodiscard]] const bully::State& state() const { return std::get<bully::State>(protocol()); }
  [[nodiscard]] const host::Calls& calls() const;
  [[nodiscard]] const std::map<Timer, Armed>& timers() const;
};

/// A failure to inject: the node fails right after it has performed this number of actions.
struct Injection {
  std::uint32_t node = 0;
  std::size_t after = 0;
};

/// A connection of two lives. The first life has dialled. Frames that one side has written wait at
/// the other side until that side reads them.
struct Connection {
  struct Coming {
    std::optional<host::Frame> frame;  ///< no value: the end of the connection
    std::uint64_t order = 0;           ///< orders the items by the time of writing
  };
  struct Side {
    NodeId node;
    bool open = true;  ///< the life on this side can still read and write
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

  // --- Commands. A command that is not possible now returns false and does nothing.

  /// A node that is down begins a life.
  bool recover(std::uint32_t node);
  /// A node stops at once. If `silent`, it does not even refuse connections.
  bool fail(std::uint32_t node, bool silent = false);
  /// The newest letter that a failed node sent is lost.
  bool lose(std::uint32_t from, std::uint32_t to);
  /// If `a` has dialled `b` or `b` has dialled `a`, the two become connected, and each reads the
  /// other's Hello.
  bool connect(std::uint32_t a, std::uint32_t b);
  /// Node `at` reads all frames from node `of`, which is down, and its dial to `of` is refused.
  bool refuse(std::uint32_t at, std::uint32_t of);
  /// Node `at` waits by its own clock until the bound of its oldest call to `of` has passed. The
  /// bounds of all its earlier calls pass too.
  bool silence(std::uint32_t at, std::uint32_t of);
  /// Node `to` reads the frames from `from`, up to the next letter.
  bool deliver(std::uint32_t from, std::uint32_t to);
  bool expire(std::uint32_t node, Timer timer);
  /// Ends the running hook. A hook that was cancelled ends as a failed one.
  bool end_hook(std::uint32_t node, bool well = true);
  /// Like end_hook, but a hook that was cancelled ends well, and then the `stop` that follows it
  /// ends too.
  bool end_hook_late(std::uint32_t node);
  bool pause(std::uint32_t node);
  /// The node goes on. Unless it `notices`, it does not know that it has paused.
  bool resume(std::uint32_t node, bool notices = true);
  bool leave(std::uint32_t node);
  /// Gives a node that is down another configuration for its next lives, or gives it the others'
  /// configuration again.
  bool differ(std::uint32_t node);
  /// Breaks the connections of `a` and `b`; frames on their way are lost.
  bool reset(std::uint32_t a, std::uint32_t b);
  /// From now on `to` reads nothing that `from` has written.
  bool cut(std::uint32_t from, std::uint32_t to);
  void heal() { cuts_.clear(); }
  /// Gives the node any event directly, not by way of its sessions. Tests use this for letters out
  /// of order, duplicates and old tickets.
  bool give(std::uint32_t node, const Event& event);

  // --- Automatic running

  /// Performs the oldest pending item, but lets no timer expire. False if nothing is pending.
  bool run_once();
  /// Performs everything that needs no timer, the oldest item first.
  void run();
  /// Like `run`, but only until `reached(*this)`. False if nothing is pending and `reached` is
  /// still false.
  template <class Predicate>
  bool run_until(Predicate reached) {
    while (!reached(*this))
      if (!run_once()) return false;
    return true;
  }
  /// Lets time pass until the next step of a node. False if there is none.
  bool advance();
  /// Runs with timers until all nodes of each of `parts` have been one group for a while.
  /// `settled_at` is the beginning of that time. False if they do not become one group.
  bool settle(const std::vector<NodeSet>& parts, unsigned turns = 1500);
  bool settle(unsigned turns = 1500) { return settle({nodes_.front().config.nodes}, turns); }

  // --- Queries

  [[nodiscard]] const TestNode& operator[](std::uint32_t node) const;
  [[nodiscard]] TestNode& operator[](std::uint32_t node);
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  [[nodiscard]] View view(std::uint32_t node) const;
  /// For each node, the part of its state that the assertions read.
  [[nodiscard]] std::vector<Standing> standings() const;
  /// True if each of `parts` is one group, in the state that Assertion 2 or 4 promises.
  [[nodiscard]] bool are_one_group(const std::vector<NodeSet>& parts) const;
  [[nodiscard]] bool are_one_group() const { return are_one_group({nodes_.front().config.nodes}); }
  /// The number of letters from `from` that `to` has still to read.
  [[nodiscard]] std::size_t letters_between(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] bool is_cut(std::uint32_t from, std::uint32_t to) const {
    return cuts_.contains({NodeId{from}, NodeId{to}});
  }
  // True if the command is possible now.
  [[nodiscard]] bool can_deliver(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] bool can_lose(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] bool can_connect(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] bool can_refuse(std::uint32_t at, std::uint32_t of) const;
  /// All letters sent, in order, while `record` is on.
  [[nodiscard]] const std::vector<Letter>& sent() const { return sent_; }
  /// One line for each step: "1 from 2: Halt .. | actions | view".
  [[nodiscard]] const std::vector<std::string>& journal() const { return journal_; }
  void say(const std::string& line) { journal_.push_back(line); }

  bool record = true;               ///< fills `sent()` and `journal()`
  bool claim = true;                ///< checks the assertions about several nodes
  bool volatile_counter = false;    ///< a new life finds no counter in its safe storage
  std::optional<Injection> inject;  ///< the failure happens once
  Duration now{};
  Duration settled_at{};

  // --- Called by its lives

  void stepped(const TestNode& node, const Event& event, const Actions& actions);
  void sent(const Letter& letter);
  [[nodiscard]] bool fails_now(const TestNode& node);
  [[nodiscard]] std::uint64_t next_order() { return ++order_; }
  void write(NodeId from, host::ConnectionId connection, host::Frame frame);
  void close(NodeId by, host::ConnectionId connection);
  /// The node reads the next frame, or the end, of that connection. False if there is nothing to
  /// read.
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

/// All nodes begin a life and form one group.
World settled(std::uint32_t nodes, Config like = {});
World settled(std::uint32_t nodes, Repairs repairs);

}  // namespace muster::test
