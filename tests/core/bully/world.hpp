#pragma once

#include <muster/claims/assertions.hpp>
#include <muster/claims/hook_grammar.hpp>
#include <muster/protocol/bully.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

/// A small deterministic world for tests of the Bully: nodes, letters on the way in sessions
/// between lives, timers, safe storage, and an application whose hooks end when the test says.
/// Every step and every action is checked as it happens (checks.hpp); what does not hold is thrown
/// as a Violation.

namespace muster::test {

/// Something that must hold did not.
struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct TestNode;

/// Throws a Violation when something is wrong, in the words of the hook grammar or of an assertion.
void demand_nothing_wrong(const TestNode& node, const HookGrammar::Wrong& wrong);

/// An item on its way from one peer to a node, in the order in which the host takes it.
struct SessionBegins {
  Incarnation life;
};
struct SessionEnds {};  ///< the old life is proven over by Hello of a new one
struct Refusal {        ///< a connection was refused: the peer was down after these calls were made
  std::set<CallNumber> calls;
};
struct Silence {
  CallNumber call;
};
using Item = std::variant<Letter, SessionBegins, SessionEnds, Refusal, Silence, Failed, Unanswered>;

struct Queued {
  Item item;
  std::uint64_t order = 0;  ///< when it was sent, for the natural order of run_until_quiet
};

/// What the host of a node knows of a peer.
struct Peer {
  std::optional<Incarnation> with;   ///< the life that its session joins
  std::optional<Incarnation> hello;  ///< the newest life that said Hello; `with` follows in order
  std::deque<Queued> incoming;
};

/// A call that a node waits for.
struct OutCall {
  Letter letter;
  Bound bound{};
  std::optional<Incarnation> sent_to;  ///< the life to which it was transmitted
  bool given_up = false;               ///< refused or silent: never transmitted again
  Duration due{};                      ///< when silence proves that it has no answer
};

/// A hook that runs.
struct Running {
  Hook hook{};
  Ticket ticket;
  bool cancelled = false;
  std::optional<GroupNumber> group;
  Members members;
};

/// How a test application behaves, and what is true of it whatever the protocol thinks.
struct TestApplication {
  bool stop_owed = true;  ///< by P2
  std::optional<Running> running;
  std::optional<Stop> stopping;        ///< the newest STOP that has not ended
  bool stop_called = false;            ///< `stop` was called for it, or was not owed
  std::optional<GroupNumber> permits;  ///< the group whose permits are valid
  std::optional<GroupNumber> works;    ///< from the beginning of `start` to the end of `stop`
  bool discounted = false;             ///< what it works for does not count: the node paused since
  std::optional<Report> last_report;
  bool began_empty = true;
  std::uint64_t order = 0;  ///< when the hook began
};

struct TestNode {
  Config config;
  bully::State state;
  bool up = false;
  bool paused = false;
  bool silent = false;                  ///< while down: refuses nothing, says nothing
  bool hold_hooks = false;              ///< run_until_quiet lets no hook of it end
  SafeState safe;                       ///< safe storage
  std::optional<GroupNumber> accepted;  ///< the highest group chosen or accepted, in any life
  std::map<Timer, Duration> timers;
  std::map<NodeId, Peer> peers;
  std::map<CallNumber, OutCall> calls;
  TestApplication application;
  HookGrammar grammar;
  std::optional<Duration> returns;  ///< when a node that stood back begins a new life
  std::size_t actions = 0;          ///< performed in all lives
};

/// A failure to inject: the node fails right after so many of its actions were performed.
struct Injection {
  std::uint32_t node = 0;
  std::size_t after = 0;
};

class World {
 public:
  explicit World(std::uint32_t nodes, Repairs repairs = {}, Timings timings = {});

  // --- Commands. Each returns false, and does nothing, where it is not possible now.
  // -------------------

  /// A node that is down begins a life.
  bool recover(std::uint32_t node);
  /// A node stops at once. A silent one does not even refuse connections.
  bool fail(std::uint32_t node, bool silent = false);
  /// The newest letters that a failed node sent are lost.
  bool lose(std::uint32_t from, std::uint32_t to);
  /// Both hosts learn of each other's life.
  bool connect(std::uint32_t a, std::uint32_t b);
  /// `at` tries to connect to a node that is down.
  bool refuse(std::uint32_t at, std::uint32_t of);
  /// A call that can no longer be answered goes unanswered by silence; the lowest such call to
  /// `of`.
  bool silence(std::uint32_t at, std::uint32_t of);
  /// `to` takes the next item that comes from `from`.
  bool deliver(std::uint32_t from, std::uint32_t to);
  bool expire(std::uint32_t node, Timer timer);
  /// The hook that runs ends, or the next stage of STOP.
  bool end_hook(std::uint32_t node, bool well = true);
  /// As end_hook, but a cancelled hook's own end comes first, with its old ticket.
  bool end_hook_late(std::uint32_t node);
  bool pause(std::uint32_t node);
  bool resume(std::uint32_t node);
  bool leave(std::uint32_t node);
  /// Any event at all, past the host: for letters out of order, duplicates and old tickets.
  bool give(std::uint32_t node, const Event& event);

  // --- Running by itself
  // --------------------------------------------------------------------------

  /// The oldest thing on its way arrives, no timer. False where nothing is on its way.
  bool run_once();
  /// Everything that can happen without a timer happens, in natural order.
  void run_until_quiet();
  /// As run_until_quiet, but only until `reached(*this)`. False when it never was.
  template <class Predicate>
  bool run_until(Predicate reached) {
    while (!reached(*this))
      if (!run_once()) return false;
    return true;
  }
  /// Time passes until the next timer or silence. False where there is none.
  bool advance();
  /// Runs with timers until Assertion 2 has held for a while, from `settled_at` on. False when it
  /// does not come to that.
  bool settle(unsigned turns = 400);

  // --- Looking
  // ------------------------------------------------------------------------------------

  [[nodiscard]] const TestNode& operator[](std::uint32_t node) const;
  [[nodiscard]] TestNode& operator[](std::uint32_t node);
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  /// What the assertions read of each node.
  [[nodiscard]] std::vector<Standing> standings() const;
  /// Assertion 2, and that all have the same group number.
  [[nodiscard]] bool reorganized() const;
  /// True when no letter is on its way, no hook runs, and no call will be answered.
  [[nodiscard]] bool quiet() const;
  /// Whether `refuse`, or `silence`, is possible now.
  [[nodiscard]] bool would_refuse(std::uint32_t at, std::uint32_t of) const;
  [[nodiscard]] bool would_be_silent(std::uint32_t at, std::uint32_t of) const;
  [[nodiscard]] const Actions& last_actions() const { return last_actions_; }
  /// All letters sent, in order, while `record` is on.
  [[nodiscard]] const std::vector<Letter>& sent() const { return sent_; }
  /// One line a step: "1 Received Halt 1.. | actions | view".
  [[nodiscard]] const std::vector<std::string>& journal() const { return journal_; }
  void say(const std::string& line) { journal_.push_back(line); }

  bool record = true;               ///< keep the letters sent and the journal
  bool claim = true;                ///< assertions about several nodes are claimed
  std::optional<Injection> inject;  ///< performed once
  Duration now{};
  Duration settled_at{};

 private:
  using Node = TestNode;

  void take(Node& node, const Event& event);
  void perform(Node& node, const Save& action);
  void perform(Node& node, const Send& action);
  void perform(Node& node, const Arm& action);
  void perform(Node& node, const Disarm& action);
  void perform(Node& node, const Stop& action);
  void perform(Node& node, const Reorganize& action);
  void perform(Node& node, const Start& action);
  void perform(Node& node, const Leave& action);
  void end_life(Node& node);
  void begin_hook(Node& node, Running hook);
  std::optional<Running> finish_hook(Node& node, journal::Edge edge);
  void begin_stop(Node& node);
  void take_end_of_hook(Node& node, const Running& hook, bool well);
  void transmit(Node& node, OutCall& call);
  void push(Node& to, NodeId from, Item item);
  void take_item(Node& node, NodeId from);
  void take_item(Node& node, NodeId from, const Letter& letter);
  void take_item(Node& node, NodeId from, const SessionBegins& begins);
  void take_item(Node& node, NodeId from, const SessionEnds& ends);
  void take_item(Node& node, NodeId from, const Refusal& refusal);
  void take_item(Node& node, NodeId from, const Silence& silence);
  void take_item(Node& node, NodeId from, const Failed& failed);
  void take_item(Node& node, NodeId from, const Unanswered& unanswered);
  void session_over(Node& node, NodeId peer, const std::set<CallNumber>& unanswered);
  void connect_where_needed();
  [[nodiscard]] bool can_be_answered(const Node& caller, const OutCall& call) const;
  Node& at(NodeId node) { return nodes_.at(node.value - 1); }
  [[nodiscard]] const Node& at(NodeId node) const { return nodes_.at(node.value - 1); }

  std::vector<Node> nodes_;
  std::uint64_t order_ = 0;
  Actions last_actions_;
  std::vector<Letter> sent_;
  std::vector<std::string> journal_;
};

}  // namespace muster::test
