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

/// Journals checked against the assertions. All lines of all journals are read twice in the order
/// of their times, because a node that paused says so only afterwards: first by a Foreseer, then by
/// a Verifier.

namespace MUSTER_EXPORT muster {
namespace verify {

using muster::operator==;
using muster::operator<<;

/// Whether Assertion 2 cannot be expected until its bound has passed anew after that step; whoever
/// is held is not expected to be in the group (docs/options/calm.md).
bool disturbs(const journal::Step& step);

/// For how long assertions are not claimed, by their causes; what overlaps counts once.
class Unclaimed {
 public:
  struct Times {
    Duration of_all{};  ///< for so long it was checked of no node
    /// For so long it was not checked of some nodes, though of the others.
    Duration of_some{};
    std::map<std::string, Duration> causes;  ///< of both

    void add(const Times& other);
  };

  void add(const NotClaimed& time);
  /// By assertion.
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

/// What has to be known before it happens. Grows with the number of pauses, lives and gaps.
struct Foresight {
  struct Pause {
    Duration from{};
    NodeId node;
  };
  std::vector<Pause> pauses;  ///< that are told by a `Paused`; ascending by `from`
  /// For each `resumed` of a node in turn: whether the first that comes after it is a `Paused`, or
  /// the end of its life.
  std::map<NodeId, std::deque<bool>> resumed_late;
  /// The last line of each life that ended without a word, as a next life of its node or another
  /// node's `Failed` shows: nothing is claimed of it from there on. By node and life.
  std::map<std::pair<NodeId, Incarnation>, std::uint64_t> last_seq;
  /// The lines of a life after which others are missing, up to a line that tells of it, by node,
  /// life and `seq`.
  struct MissingLines {
    std::optional<GroupNumber> works_then{};  ///< the group of the node then, if it is Normal
    bool to_the_end = false;                  ///< the journal ends too early
  };
  std::map<std::tuple<NodeId, Incarnation, std::uint64_t>, MissingLines> gaps;
  /// While a node is down in these spans, a life of it runs that is not in its journal: letters of
  /// that life arrived. A journal that ends too early has a span without an end.
  struct Unknown {
    Duration from{};
    Duration until = Duration::max();
  };
  std::map<NodeId, std::vector<Unknown>> unknown;
  NodeSet nodes;  ///< of which there is a journal
  NodeSet heard;  ///< letters of these arrived
};

/// Reads all lines for the first time, in the order of their times; only few kinds matter.
class Foreseer {
 public:
  void take(const journal::Line& line);

  /// The parts of which `take` is made, for those who know without parsing what a line is.
  void life(const journal::Header& header);
  void line(const journal::Stamp& stamp);  ///< of a life: before what else is said of it
  void step(NodeId node, Duration t, const Event* event);  ///< null: neither Paused nor Failed
  void heard(NodeId from, Incarnation life, Duration t);   ///< of each letter that is received
  void gap(const journal::Gap& gap);                       ///< before `line` is told of its stamp
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
    bool ended = false;  ///< somebody says when
  };
  void ended_silently(NodeId node);
  void end(NodeId node);
  /// Around which time a life is not known of which a letter arrived at `at`; none: it is.
  [[nodiscard]] std::optional<Foresight::Unknown> unknown(NodeId node, Incarnation life,
                                                          Duration at) const;

  Foresight foresight_;
  std::map<NodeId, ForeseenLife> lives_;
  std::set<std::pair<NodeId, Incarnation>> failed_;           ///< as others were told
  std::map<std::pair<NodeId, Incarnation>, Duration> heard_;  ///< when its last letter arrived
  std::map<NodeId, std::map<Incarnation, Duration>> begun_;   ///< when its lives did
  std::set<NodeId> just_resumed_;
};

// --- Second reading

/// The letters of P8 and P1: none arrives before what had to be performed before it was sent. And
/// none arrives that nobody sent.
class Letters {
 public:
  /// A letter that no line of its sender sends, though that wrote a later one and none is missing.
  struct Stray {
    NodeId to;
    Duration t{};
    Place place;
    std::string why;
  };

  /// That life's journal is there from its first line on.
  void begin(NodeId node, Incarnation life);
  /// A node's step asks for these actions. `permits` are valid before it.
  void step(NodeId node, Incarnation life, const Actions& actions, bool permits);
  void performed(NodeId node, Incarnation life);
  void revoked(NodeId node, Incarnation life);
  /// What is wrong with the arrival of this letter now.
  [[nodiscard]] std::optional<std::string> received(const Letter& letter, Duration t,
                                                    const Place& place);
  /// That life wrote a line at `t`: of what it sent before, all is known.
  [[nodiscard]] std::vector<Stray> known_until(NodeId node, Incarnation life, Duration t);
  /// Lines of that life are missing: nothing is known of what it promised, or sent.
  void forget(NodeId node, Incarnation life);
  /// The same, between two lines: what is sent after that is known again.
  void gap(NodeId node, Incarnation life);
  /// No further line of that life comes: nothing is claimed of what it has promised.
  void last_line(NodeId node, Incarnation life) { senders_.erase({node, life}); }

 private:
  using Key = std::pair<NodeId, Incarnation>;
  /// What one life sent to one node, by hashes, in order; and what came of it that was not among
  /// them.
  struct Sent {
    std::deque<std::uint64_t> letters;
    bool older_forgotten = false;
    std::vector<std::pair<std::uint64_t, Stray>> strays;
  };
  /// All that a life sent; nothing is claimed of one of which not all is known.
  struct Sends {
    bool all_known = true;
    bool begins_late = false;  ///< lines were missing: of each receiver older ones are forgotten
    std::map<NodeId, Sent> to;
  };
  [[nodiscard]] static bool take(Sent& sent, std::uint64_t letter);
  [[nodiscard]] Sends* known(NodeId node, Incarnation life);
  [[nodiscard]] static Sent& sent_to(Sends& sends, NodeId to);

  struct Promise {
    NodeId to;
    CallNumber call;
    bool answer = false;
    std::size_t saves = 0;  ///< that have to be performed before
    bool revoked = false;   ///< permits have to be revoked before
  };
  struct Sender {
    std::vector<Promise> promises;  ///< of the last step
    std::size_t saves = 0;          ///< performed since
    bool revoked = false;
  };
  std::map<Key, Sender> senders_;
  std::map<Key, Sends> sent_;
};

/// Reads all lines for the second time, in the order of their times, and judges. Memory is bounded
/// by the number of nodes.
class Verifier {
 public:
  /// `not_claimed` is told of each time for which an assertion is not claimed, when it is over;
  /// `violated` each time that an assertion begins not to hold.
  Verifier(Foresight foresight, std::function<void(const NotClaimed&)> not_claimed,
           std::function<void(const Violated&)> violated = {});

  /// Judges these as well where the protocol of the journals does not claim them, and in times for
  /// which it does not, such as cuts; before the first line. Of those about calms, 2 and 4, only
  /// the one that the protocol claims is judged.
  void ask(const std::vector<std::string>& assertions) { asked_ = assertions; }

  /// The failure is one of the journal: it is not one that nodes write. Nothing can be judged then.
  Expected<> take(const journal::Line& line, const Place& place);

  Outcome finish();

 private:
  /// One of the assertions, and how it fared.
  struct Judged {
    bool claimed = false;
    std::uint64_t checked{};
    std::uint64_t violations{};
    bool violated_now = false;
    std::optional<Violated> first;
  };
  /// What a member reported when it stopped last.
  struct Reported {
    Digest report;
    std::optional<GroupNumber> group;
  };
  struct Node {
    Incarnation life;
    Incarnation highest_life;
    bool named_before = false;  ///< its store was wiped: another life had that incarnation, too
    bool counts = false;        ///< its present life is not over
    std::optional<Duration> paused_since;
    std::optional<Duration> gap_since;  ///< what it does is not known: lines are missing
    bool gap_to_the_end = false;        ///< that one: its journal ends too early
    Config config;
    std::optional<std::uint64_t> seq;  ///< of its last line, where known
    Duration last_line{};
    HookGrammar grammar;
    std::optional<GroupNumber> group;       ///< in its last view
    std::optional<GroupNumber> last_group;  ///< in its last view that had one
    std::optional<Reported> reported;
    std::optional<GroupNumber> accepted;   ///< the highest, in all lives
    std::optional<GroupNumber> accepting;  ///< counts when the Saves of its step are performed
    std::optional<SafeState> saved;        ///< durable
    std::deque<SafeState> saving;
    std::optional<SafeState> was_saving;  ///< as its last life ended: it may be durable, or not
    NodeSet differ;                       ///< these and it refuse each other, as it was told
  };
  /// The node of a line, with what is to be made of it; a failure where the line cannot be there.
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
  /// Why left-behind is not judged now; empty: it is.
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
  /// The nodes of the configuration that wrote no journal.
  [[nodiscard]] NodeSet without_journal() const;
  /// There is the journal of one node alone, of several.
  [[nodiscard]] bool is_alone() const;
  void tell_of_missing_journals();
  /// Lines of this node are missing, so nobody knows what it does now.
  [[nodiscard]] bool is_unknown(NodeId id) const;
  /// The span of a life that is not in the journal, in which the node is now.
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
  NodeSet coordinators_;      ///< of the groups that nodes were in
  bool was_doubted_ = false;  ///< some node was cut off or paused: assumptions 8 and 9
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
  /// Whose numbers may be in use twice: their safe storage was wiped. And since when.
  NodeSet were_wiped_;
  bool was_put_back_ = false;  ///< the storage of one of them
  Duration wiped_since_{};
  Duration calm_since_{};
  std::string calm_not_judged_;  ///< why the last one that lasted was not looked at
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
