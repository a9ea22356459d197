#pragma once

#include <muster/claims/assertions.hpp>
#include <muster/journal/journal.hpp>

#include <deque>
#include <map>
#include <optional>
#include <string>

/// The hook grammar: the order in which a host may perform the actions of a node
/// (docs/architecture.md, P1, P2 and P4 to P8). The grammar reads the lines of a journal, or the
/// values of these lines.

namespace MUSTER_EXPORT muster {

/// The hooks of one life of one node. Each member takes the next line of that life. The member
/// returns one sentence if the line is wrong, otherwise none.
class HookGrammar {
 public:
  using Wrong = std::optional<std::string>;

  /// A life that begins: it owes one `stop`.
  HookGrammar() = default;

  /// A life without a known beginning. Nothing counts as wrong before the first hook that begins.
  explicit HookGrammar(const Protocol& state);

  /// An event and the actions that it led to. All actions of the step before must have been
  /// performed.
  Wrong step(const Event& event, const Actions& actions);

  /// One more Save of the last step is durable.
  Wrong performed();

  /// A hook begins, ends or fails.
  Wrong hook(const journal::HookEdge& edge);

  /// The permits of a group are revoked, or the last of them is returned.
  Wrong permits(journal::PermitsEdge edge, const GroupNumber& group);

  /// Lines are missing. From the next line on, the life is treated as one without a known
  /// beginning.
  void lines_are_missing();

  /// Lines are missing, but the state after them is known, and all actions of the missing steps are
  /// performed. If the node still works in the same group, no missing line was about a hook.
  void lines_are_missing(const Protocol& state);

  /// The group that the application works for, from the beginning of `start` to the end of `stop`.
  [[nodiscard]] const std::optional<GroupNumber>& works_for() const { return started_; }

  /// True once the application has stopped its work and reported. The node must not be a member of
  /// a reorganization before (P4).
  [[nodiscard]] bool has_ceased() const { return !stop_owed_ && !running_; }

  /// The number of Saves of the last step that are not durable yet.
  [[nodiscard]] std::size_t saves_awaited() const { return saving_.size(); }

  /// True from the beginning of `start` until the permits of its group are revoked.
  [[nodiscard]] bool permits_are_valid() const { return permits_ == PermitsAre::valid; }

  friend bool operator==(const HookGrammar&, const HookGrammar&) = default;

 private:
  enum class PermitsAre { none, valid, revoked };

  /// The request of a Stop, Reorganize or Start action.
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
  /// S(i).d and S(i).g in safe storage.
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

  bool sure_ = true;            ///< false before the first hook of a life without a known beginning
  bool stop_owed_ = true;       ///< at the beginning of a life, and after each `start` that began
  std::optional<Asked> asked_;  ///< the newest
  std::optional<Running> running_;
  std::map<Hook, Ticket> ended_;  ///< the newest ticket of each hook that succeeded
  std::optional<GroupNumber> started_;
  PermitsAre permits_ = PermitsAre::none;
  bool stopped_given_ = false;  ///< the protocol was told that the last Stop has ended
  std::optional<Saved> saved_;
  std::deque<std::optional<Saved>> saving_;
};

}  // namespace muster
