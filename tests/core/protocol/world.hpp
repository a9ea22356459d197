#pragma once

#include <muster/claims/assertions.hpp>
#include <muster/claims/hook_grammar.hpp>
#include <muster/protocol/protocol.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

/// A small deterministic world for tests of any protocol, in which nothing of assumptions 8 and 9
/// holds: letters may be lost, every call may go unanswered at any time, links may be cut one way
/// or both, nodes may pause. What holds is order between two lives (7). Every step is checked as it
/// happens; what does not hold is thrown as a Wrong.

namespace muster::test::any {

/// Something that must hold did not.
struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A hook that runs.
struct Running {
  Hook hook{};
  Ticket ticket;
  bool cancelled = false;
  std::optional<GroupNumber> group;
};

struct App {
  std::optional<Running> running;
  std::optional<Stop> stopping;        ///< a STOP that has not ended
  std::optional<GroupNumber> permits;  ///< the group whose permits are valid
  std::optional<GroupNumber> works;    ///< from the beginning of `start` to the end of `stop`
};

struct OutCall {
  Letter letter;
  Duration due{};
};

struct Node {
  Config config;
  Protocol protocol;
  bool up = false;
  bool paused = false;
  SafeState safe;
  std::map<Timer, Duration> timers;
  std::map<CallNumber, OutCall> calls;
  std::map<std::pair<NodeId, CallNumber>, Incarnation> asked;  ///< calls of others, by which life
  std::map<NodeId, Incarnation> proven;  ///< the newest life of each other proven over
  App app;
  HookGrammar grammar;
  std::optional<GroupNumber> accepted;  ///< the highest group chosen or accepted, in any life
  std::optional<Duration> returns;      ///< when a node that stood back begins a new life
};

class World {
 public:
  explicit World(std::uint32_t nodes, Config like = {});

  // --- Commands. Each returns false, and does nothing, where it is not possible now.

  bool recover(std::uint32_t node);
  bool fail(std::uint32_t node);
  /// `to` takes the oldest letter from `from`.
  bool deliver(std::uint32_t from, std::uint32_t to);
  /// The oldest letter from `from` to `to` is lost.
  bool lose(std::uint32_t from, std::uint32_t to);
  /// The oldest call of `node` to `to` goes unanswered, whatever is on its way.
  bool give_up(std::uint32_t node, std::uint32_t to);
  /// `at` learns that a life of `of` that it has heard of is over.
  bool prove(std::uint32_t at, std::uint32_t of);
  bool expire(std::uint32_t node, Timer timer);
  /// The hook that runs ends, or the next stage of STOP.
  bool end_hook(std::uint32_t node, bool well = true);
  bool pause(std::uint32_t node);
  bool resume(std::uint32_t node);
  bool leave(std::uint32_t node);
  /// No letter goes from `from` to `to` any more.
  bool cut(std::uint32_t from, std::uint32_t to);
  void heal();
  /// Any event at all, past the network.
  const Actions& give(std::uint32_t node, const Event& event);

  // --- Running by itself

  /// Letters arrive in the order in which they were sent and hooks end, until nothing is left.
  void run();
  /// `run`, and time passes until the next timer or silence, and `run`. False where there is none.
  bool advance();
  /// Advances until all nodes of each of `parts` are in a state of Assertion 4 (or 2), and
  /// remain so for a while. False when it does not come to that.
  bool settle(const std::vector<NodeSet>& parts, unsigned turns = 600);
  /// The same for all nodes.
  bool settle() { return settle({all_}); }

  // --- Looking

  [[nodiscard]] const Node& operator[](std::uint32_t node) const { return nodes_.at(node - 1); }
  [[nodiscard]] Node& operator[](std::uint32_t node) { return nodes_.at(node - 1); }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  [[nodiscard]] std::vector<Standing> standings() const;
  [[nodiscard]] View view(std::uint32_t node) const;
  [[nodiscard]] const std::deque<Letter>& between(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] bool is_cut(std::uint32_t from, std::uint32_t to) const {
    return cut_.contains({NodeId{from}, NodeId{to}});
  }
  /// All letters sent, in order, while `record` is on; and one line for each step.
  [[nodiscard]] const std::vector<Letter>& sent() const { return sent_; }
  [[nodiscard]] std::string story() const;

  bool record = true;
  bool claim = true;              ///< assertions about several nodes are claimed
  bool hold_hooks = false;        ///< `run` ends no hook
  bool volatile_counter = false;  ///< a restarted node finds no counter in its safe storage
  Duration now{};
  Duration settled_at{};

 private:
  using Pair = std::pair<NodeId, NodeId>;

  void take(Node& node, const Event& event);
  void perform(Node& node, const Action& action);
  void send(Node& node, const Send& send);
  void hook_edge(Node& node, const Running& hook, journal::Edge edge, const Members* members);
  void begin_stop(Node& node);
  void check_node(const Node& node, const std::optional<GroupNumber>& before) const;
  void check_all() const;
  void end_life(Node& node);
  [[nodiscard]] bool will_be_answered(const Node& node, const OutCall& call) const;
  Node& at(NodeId node) { return nodes_.at(node.value - 1); }
  [[nodiscard]] const Node& at(NodeId node) const { return nodes_.at(node.value - 1); }

  std::vector<Node> nodes_;
  NodeSet all_;
  std::map<Pair, std::deque<Letter>> letters_;
  std::deque<Pair> order_;  ///< of letters on their way
  std::set<Pair> cut_;
  Actions last_actions_;
  std::vector<Letter> sent_;
  std::vector<std::string> story_;
};

}  // namespace muster::test::any
