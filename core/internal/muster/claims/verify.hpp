#pragma once

#include <muster/claims/hook_grammar.hpp>
#include <muster/claims/left_behind.hpp>
#include <muster/claims/verdict.hpp>
#include <muster/journal/journal.hpp>
#include <muster/values/failure.hpp>

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

/// Checks journals against the assertions. A node that was paused reports the pause only
/// afterwards. So the lines of all journals are read twice, in the order of their times: first by a
/// Foreseer, then by a Verifier.
///
///     verify::Foreseer foreseer;
///     for (const Placed& line : lines) foreseer.take(line.line);
///     verify::Verifier verifier(foreseer.finish(), [](const verify::NotClaimed&) {});
///     for (const Placed& line : lines)
///       if (const auto taken = verifier.take(line.line, line.place); !taken) return taken.error();
///     const verify::Outcome outcome = verifier.finish();
///
/// Nothing in here is thread-safe: a Foreseer or a Verifier is used by one thread.

namespace MUSTER_EXPORT muster {
namespace verify {

using muster::operator==;
using muster::operator<<;

/// True if this step is a disturbance: after it, Assertion 2 cannot be expected until the bound of
/// Assertion 2 has passed. A node that its coordinator suspends is not expected in the group
/// (docs/explanation/options/calm.md).
bool disturbs(const journal::Step& step);

/// Sums up for how long assertions were not claimed, by cause. Overlapping times count once.
class Unclaimed {
 public:
  struct Times {
    Duration of_all{};  ///< the assertion was checked for no node
    /// The assertion was checked for some nodes and not for others.
    Duration of_some{};
    std::map<std::string, Duration> causes;  ///< of both

    void add(const Times& other);
  };

  void add(const NotClaimed& time);
  /// The times by assertion.
  [[nodiscard]] std::map<std::string, Times> times() const;

 private:
  using Spans = std::vector<std::pair<Duration, Duration>>;
  [[nodiscard]] static Duration together(Spans spans);
  struct Of {
    Spans of_all, of_some;
    std::map<std::string, Spans> causes;
  };
  std::map<std::string, Of> of_;
};

// --- First reading

/// Facts that the Verifier must know before it reads the lines that report them. Their memory grows
/// with the number of pauses, lives and gaps.
struct Foresight {
  struct Pause {
    Duration from{};
    NodeId node;
  };
  std::vector<Pause> pauses;  ///< the pauses that `Paused` lines report, ascending by `from`
  /// For each `resumed` of a node, in order: true if a `Paused`, or the end of the life, is the
  /// first line that follows it.
  std::map<NodeId, std::deque<bool>> resumed_late;
  /// By node and life: the last line of each life that ended without an Ended line. A later life of
  /// the node, or another node's `Failed`, shows that the life ended. Nothing is claimed of the
  /// life after its last line.
  std::map<std::pair<NodeId, Incarnation>, std::uint64_t> last_seq;
  /// By node, life and `seq`: the lines directly before missing ones. The missing part ends at the
  /// line that reports it.
  struct MissingLines {
    std::optional<GroupNumber> works_then{};  ///< the node's group at that time, if it was Normal
    bool to_the_end = false;                  ///< the journal ends too early
  };
  std::map<std::tuple<NodeId, Incarnation, std::uint64_t>, MissingLines> gaps;
  /// Times in which a node runs a life that its journal does not contain. Letters of that life
  /// arrived while the node seemed to be down. If a journal ends too early, the time has no end.
  struct Unknown {
    Duration from{};
    Duration until = Duration::max();
  };
  std::map<NodeId, std::vector<Unknown>> unknown;
  NodeSet nodes;  ///< the nodes with a journal
  NodeSet heard;  ///< the nodes from which letters arrived
};

/// Reads all lines for the first time, in the order of their times. The Foreseer needs only a few
/// kinds of lines.
class Foreseer {
 public:
  void take(const journal::Line& line);

  /// The parts of `take`, for callers that know the kind of a line without parsing it.
  void life(const journal::Header& header);
  void line(const journal::Stamp& stamp);  ///< for each line of a life; call it before the others
  void step(NodeId node, Duration t, const Event* event);  ///< null: neither Paused nor Failed
  void heard(NodeId from, Incarnation life, Duration t);   ///< for each letter that is received
  void gap(const journal::Gap& gap);  ///< call this function before `line` for the same stamp
  void over(NodeId node);
  void fault(const journal::Fault& fault);

  Foresight finish();

 private:
  /// The present life of a node.
  struct ForeseenLife {
    Incarnation incarnation;
    std::uint64_t last_seq{};
    Duration last_line{};
    Duration T{};
    bool ended = false;  ///< a line reports its end
  };
  void ended_silently(NodeId node);
  void end(NodeId node);
  /// The time during which an unknown life must have run if a letter of it arrived at `at`. Returns
  /// none if the life is known.
  [[nodiscard]] std::optional<Foresight::Unknown> unknown(NodeId node, Incarnation life,
                                                          Duration at) const;

  Foresight foresight_;
  std::map<NodeId, ForeseenLife> lives_;
  std::set<std::pair<NodeId, Incarnation>> failed_;           ///< as other nodes were told
  std::map<std::pair<NodeId, Incarnation>, Duration> heard_;  ///< when its last letter arrived
  std::map<NodeId, std::map<Incarnation, Duration>> begun_;   ///< when its lives began
  std::set<NodeId> just_resumed_;
};

// --- Second reading

/// The assertions P1 and P8 about letters. No letter arrives before the actions that had to be
/// performed before it was sent, and no letter arrives that no node sent.
class Letters {
 public:
  /// A letter that no step of its sender sends, although the sender's journal has a later line and
  /// lacks none.
  struct Stray {
    NodeId to;
    Duration t{};
    Place place;
    std::string why;
  };

  /// The journal of that life is complete from its first line on.
  void begin(NodeId node, Incarnation life);
  /// The actions of a node's step. `permits` is true if permits are valid before the step.
  void step(NodeId node, Incarnation life, const Actions& actions, bool permits);
  void performed(NodeId node, Incarnation life);
  void revoked(NodeId node, Incarnation life);
  /// Returns a sentence if this letter must not arrive now; otherwise none.
  [[nodiscard]] std::optional<std::string> received(const Letter& letter, Duration t,
                                                    const Place& place);
  /// A life wrote a line at `t`, so all letters that it sent before `t` are known. Returns the
  /// letters that it did not send.
  [[nodiscard]] std::vector<Stray> known_until(NodeId node, Incarnation life, Duration t);
  /// Lines of that life are missing: neither its promises nor its letters are known.
  void forget(NodeId node, Incarnation life);
  /// Lines between two known lines are missing. The letters that are sent after the gap are known
  /// again.
  void gap(NodeId node, Incarnation life);
  /// No further line of that life follows: nothing is claimed of its promises.
  void last_line(NodeId node, Incarnation life) { senders_.erase({node, life}); }

 private:
  using Key = std::pair<NodeId, Incarnation>;
  /// The letters that one life sent to one node, as hashes in their order, and the letters that
  /// arrived and were not among them.
  struct Sent {
    std::deque<std::uint64_t> letters;
    bool older_forgotten = false;
    std::vector<std::pair<std::uint64_t, Stray>> strays;
  };
  /// The letters of one life. If not all of these letters are known, nothing is claimed of them.
  struct Sends {
    bool all_known = true;
    bool begins_late = false;  ///< lines are missing: older letters to each receiver are unknown
    std::map<NodeId, Sent> to;
  };
  [[nodiscard]] static bool take(Sent& sent, std::uint64_t letter);
  [[nodiscard]] Sends* known(NodeId node, Incarnation life);
  [[nodiscard]] static Sent& sent_to(Sends& sends, NodeId to);

  struct Promise {
    NodeId to;
    CallNumber call;
    bool answer = false;
    std::size_t saves = 0;  ///< Saves that must be performed first
    bool revoked = false;   ///< permits must be revoked first
  };
  struct Sender {
    std::vector<Promise> promises;  ///< of the last step
    std::size_t saves = 0;          ///< Saves performed since then
    bool revoked = false;
  };
  std::map<Key, Sender> senders_;
  std::map<Key, Sends> sent_;
};

/// Reads all lines for the second time, in the order of their times, and judges them. Memory is
/// bounded by the number of nodes.
class Verifier {
 public:
  /// `not_claimed` is called for each time in which an assertion is not claimed, when that time is
  /// over. `violated` is called each time an assertion changes from holding to not holding.
  Verifier(Foresight foresight, std::function<void(const NotClaimed&)> not_claimed,
           std::function<void(const Violated&)> violated = {});

  /// Judges these assertions even if the protocol of the journals does not claim them, and also in
  /// times for which they are not claimed, such as cuts. Call it before the first line. Assertions
  /// 2 and 4 are judged only after a calm time, and only the one of the two that the protocol
  /// claims is judged.
  void ask(const std::vector<std::string>& assertions) { asked_ = assertions; }

  /// Takes one line. A failure means that no node can have written this journal, so the Verifier
  /// cannot judge the journal.
  Expected<> take(const journal::Line& line, const Place& place);

  Outcome finish();

 private:
  /// One assertion and its results so far.
  struct Judged {
    bool claimed = false;
    std::uint64_t checked{};
    std::uint64_t violations{};
    bool violated_now = false;
    std::optional<Violated> first;
  };
  /// A member's report of its last stop.
  struct Reported {
    Digest report;
    std::optional<GroupNumber> group;
  };
  struct Node {
    Incarnation life;
    Incarnation highest_life;
    bool named_before = false;  ///< the store was wiped, so an older life had the same incarnation
    bool counts = false;        ///< its present life is not over
    std::optional<Duration> paused_since;
    std::optional<Duration> gap_since;  ///< lines are missing since then: its state is not known
    bool gap_to_the_end = false;        ///< its journal ends too early
    Config config;
    std::optional<std::uint64_t> seq;  ///< of its last line, if known
    Duration last_line{};
    HookGrammar grammar;
    std::optional<GroupNumber> group;       ///< in its last view
    std::optional<GroupNumber> last_group;  ///< in its last view with a group
    std::optional<Reported> reported;
    std::optional<GroupNumber> accepted;   ///< the highest, in all lives
    std::optional<GroupNumber> accepting;  ///< accepted once the Saves of its step are performed
    std::optional<SafeState> saved;        ///< durable
    std::deque<SafeState> saving;
    std::optional<SafeState> was_saving;  ///< being saved when its last life ended: maybe durable
    NodeSet differ;                       ///< nodes that refuse this one, or that it refuses
  };
  /// The node that wrote a line, prepared for that line. Returns a failure if the line cannot be
  /// there.
  Expected<Node*> writer(const journal::Stamp& stamp, bool tells_of_gap = false);
  void wrote(const journal::Stamp& line);
  Expected<> take(const journal::Header& line);
  Expected<> take(const journal::Step& line);
  Expected<> take(const journal::Performed& line);
  Expected<> take(const journal::HookEdge& line);
  Expected<> take(const journal::Permits& line);
  Expected<> take(const journal::Ended& line);
  Expected<> take(const journal::Gap& line);
  Expected<> take(const journal::Fault& line);
  Expected<> take(const journal::Remark& line);
  Expected<> take(const journal::Finding& line);

  void begin_life(const journal::Header& line);
  void end_life(NodeId id);
  void begin_pause(NodeId id, Duration from);
  void end_pause(NodeId id);
  void begin_gap(NodeId id, const Foresight::MissingLines& missing);
  void end_gap(NodeId id);
  void foreseen_pauses();
  void cut(const journal::Fault& line);
  void healed(const journal::Fault& line);
  void end_cut();
  void resumed(NodeId id);
  void wiped(NodeId id);
  void step_of_life(const journal::Step& line, Node& node);
  void recovered(NodeId id, Node& node, const SafeState& safe);
  void accepted(NodeId id, Node& node);
  void members_have_ceased(const journal::HookEdge& line);
  void for_each_named(const std::optional<NodeId>& node, void (Verifier::*what)(NodeId));

  void disturbed() { calm_since_ = now_; }
  [[nodiscard]] bool is_settled() const;
  void check_states();
  void check_groups();
  void check_left_behind();
  /// Why left-behind is not judged now; `why` is empty if it is judged.
  struct NotJudged {
    std::string why;
    std::string cause;
    Duration since{};
  };
  [[nodiscard]] NotJudged left_behind_is_not_judged(const Cuts& unheard) const;
  [[nodiscard]] Cuts unheard() const;
  void end_not_left_behind();
  void end_wipes();
  [[nodiscard]] bool may_refuse_each_other() const;
  void check_calm();
  void check_2();
  void check_4();
  [[nodiscard]] bool claims(std::string_view assertion) const;
  [[nodiscard]] bool is_asked_for(std::string_view assertion) const;
  /// The configured nodes that wrote no journal.
  [[nodiscard]] NodeSet without_journal() const;
  /// True if there is only one node's journal although there are several nodes.
  [[nodiscard]] bool is_alone() const;
  void tell_of_missing_journals();
  /// Lines of this node are missing, so its present state is not known.
  [[nodiscard]] bool is_unknown(NodeId id) const;
  /// The time of an unknown life in which the node is now.
  [[nodiscard]] const Foresight::Unknown* unknown_life(NodeId id) const;
  [[nodiscard]] std::string why_unknown(NodeId id) const;
  void tell_of_missing_lives(NodeId id);
  void tell_of_unknown(Duration from, Duration to, const std::string& why);
  [[nodiscard]] std::string undecided(const std::vector<Verdict>& verdicts) const;
  void judge(const char* assertion, std::optional<Disagreement> disagreement);
  void judge_strays(const journal::Stamp& line);
  void judge_calm(const char* assertion, std::optional<Disagreement> disagreement);
  void judge_application(NodeSet nodes, std::string broken);
  void judge_grammar(NodeId id, std::optional<std::string> wrong);
  void not_claimed(std::initializer_list<const char*> assertions, Duration from,
                   const std::string& why, const std::string& cause, bool of_some = false);
  Verdict verdict_on(const std::string& assertion);
  [[nodiscard]] Standing& standing_of(NodeId id);

  Foresight foresight_;
  std::optional<ProtocolName> protocol_;  ///< of the first line
  Claims claims_ = claims_of({});
  std::vector<std::string> asked_;
  NodeSet coordinators_;      ///< the coordinators of all groups that nodes were in
  bool was_doubted_ = false;  ///< a node was cut off or paused, against assumptions 8 and 9
  std::size_t next_pause_ = 0;
  std::function<void(const NotClaimed&)> tell_;
  std::function<void(const Violated&)> tell_violated_;

  Duration began_{};
  Duration now_{};
  Place place_;
  std::map<NodeId, Node> nodes_;
  std::vector<Standing> standings_;  ///< ascending by node
  NodeSet configured_;
  Letters letters_;

  Cuts cut_;
  std::optional<Duration> cut_since_;
  NodeSet were_cut_;
  /// Nodes with numbers that may be in use twice, because their safe storage was wiped.
  NodeSet were_wiped_;
  bool was_restored_ = false;  ///< the safe storage of one of them was restored
  Duration wiped_since_{};
  Duration calm_since_{};
  std::string calm_not_judged_;  ///< why the last calm time that was long enough was not judged
  std::optional<Duration> bound_;

  LeftBehind left_behind_;
  NotJudged not_left_behind_;

  std::map<std::string, Judged, std::less<>> judged_;
  std::uint64_t lines_{};
  std::uint64_t lives_{};
  std::uint64_t missing_lines_{};
};

}  // namespace verify
}  // namespace muster
