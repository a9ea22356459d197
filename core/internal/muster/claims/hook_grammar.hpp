#pragma once

#include <muster/claims/assertions.hpp>
#include <muster/journal/journal.hpp>

#include <deque>
#include <map>
#include <optional>
#include <string>

/// The hook grammar: in which order a host may perform what a node asked for (docs/architecture.md,
/// P1, P2, P4 to P8). It reads the lines of a journal, or the values of which they are made.

namespace MUSTER_EXPORT muster {

/// One life of one node. Every member takes the next line of that life and says what is wrong with
/// it, in one sentence, or nothing.
class HookGrammar {
 public:
  using Wrong = std::optional<std::string>;

  /// A life that begins: it owes one `stop`.
  HookGrammar() = default;

  /// A life of which the beginning is not known: nothing is wrong before the first hook that
  /// begins.
  explicit HookGrammar(const Protocol& state);

  /// An event and the actions that it led to. The actions of the step before are all performed.
  Wrong step(const Event& event, const Actions& actions);

  /// The next Save of the last step is durable.
  Wrong performed();

  /// A hook begins, ends or fails.
  Wrong hook(const journal::HookEdge& edge);

  /// Permits are revoked, or the last of them is returned.
  Wrong permits(journal::PermitsEdge edge, const GroupNumber& group);

  /// Lines are missing: from here on as in a life whose beginning is not known.
  void lines_are_missing();

  /// The same, after which the node is known to be in this state, all actions performed. Where it
  /// works on in the same group nothing that a hook does is missing.
  void lines_are_missing(const Protocol& state);

  /// The group that the application works for, from the beginning of `start` to the end of `stop`.
  [[nodiscard]] const std::optional<GroupNumber>& works_for() const { return started_; }

  /// True when its application has ceased, and reported: it may be a member of a reorganization
  /// (P4).
  [[nodiscard]] bool has_ceased() const { return !stop_owed_ && !running_; }

  /// The Saves of the last step that are not durable yet.
  [[nodiscard]] std::size_t saves_awaited() const { return saving_.size(); }

  /// True from the beginning of `start` until the permits of its group are revoked.
  [[nodiscard]] bool permits_are_valid() const { return permits_ == PermitsAre::valid; }

  friend bool operator==(const HookGrammar&, const HookGrammar&) = default;

 private:
  enum class PermitsAre { none, valid, revoked };

  /// What a Stop, Reorganize or Start asked for.
  struct Asked {
    Hook hook{};
    Ticket ticket;
    bool owed = true;
    std::optional<GroupNumber> group;
    Digest definition;
    NodeSet members;
    friend bool operator==(const Asked&, const Asked&) = default;
  };
  struct Running {
    Hook hook{};
    Ticket ticket;
    friend bool operator==(const Running&, const Running&) = default;
  };
  /// S(i).d and S(i).g as they are in safe storage.
  struct Saved {
    Digest definition;
    GroupNumber group;
    friend bool operator==(const Saved&, const Saved&) = default;
  };

  static std::optional<Saved> saved_by(const SafeState& safe);
  Wrong given(const Stopped& event);
  Wrong given_end(Hook hook, Ticket ticket, const char* event) const;
  void ask(const Action& action);
  Wrong begins(const journal::HookEdge& edge);
  Wrong stop_begins(const journal::HookEdge& edge) const;
  Wrong reorganize_begins(const journal::HookEdge& edge) const;
  Wrong start_begins(const journal::HookEdge& edge) const;
  Wrong ends(const journal::HookEdge& edge);

  bool sure_ = true;       ///< false until a hook begins, in a life whose beginning is not known
  bool stop_owed_ = true;  ///< by the beginning of a life, and by each `start` that began
  std::optional<Asked> asked_;  ///< the newest
  std::optional<Running> running_;
  std::map<Hook, Ticket> ended_;  ///< the newest ticket of each hook that ended well
  std::optional<GroupNumber> started_;
  PermitsAre permits_ = PermitsAre::none;
  bool stopped_given_ = false;  ///< the last Stop has ended for the protocol too
  std::optional<Saved> saved_;
  std::deque<std::optional<Saved>> saving_;
};

}  // namespace muster
