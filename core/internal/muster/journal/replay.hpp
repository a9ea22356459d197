#pragma once

#include <muster/journal/journal.hpp>
#include <muster/values/failure.hpp>

#include <map>
#include <optional>
#include <string>

/// Replaying a journal: each recorded event is given to `step` again, and the result is compared.

namespace MUSTER_EXPORT muster {
namespace replay {

/// The first place at which a life differs from its record.
struct Difference {
  std::string of;        ///< "actions", "state", or "segment", for the state at its beginning
  std::string recorded;  ///< this and `replayed` are JSON
  std::string replayed;
};

/// Takes the lines of one journal in their order. Lives of several nodes may be mixed.
class Replayer {
 public:
  /// Replays one line. Takes one line. Returns the difference; none if there is no difference, or
  /// if the line is no step. A life that has differed is not followed any further. A life with
  /// missing lines is followed again from its next segment, or from the line that reports the gap.
  /// A failure means that the line cannot be at this place of a journal.
  Expected<std::optional<Difference>> take(const journal::Line& line);

  /// The state of a node that is being followed; null if the node is not followed.
  [[nodiscard]] const Protocol* state_of(NodeId node) const;

  [[nodiscard]] std::uint64_t exact_steps() const { return exact_; }
  /// Steps that were not replayed.
  [[nodiscard]] std::uint64_t passed_over() const { return passed_over_; }
  [[nodiscard]] std::uint64_t lives() const { return lives_; }

 private:
  struct ReplayedLife {
    Incarnation incarnation;
    Config config;
    Protocol state;
    std::optional<std::uint64_t> seq;  ///< the `seq` of the last line, if known
    bool followed = false;
  };
  std::optional<Difference> begin(const journal::Header& line);
  std::optional<Difference> step(ReplayedLife& life, const journal::Step& line);

  std::map<NodeId, ReplayedLife> lives_of_nodes_;
  std::uint64_t exact_{};
  std::uint64_t passed_over_{};
  std::uint64_t lives_{};
};

}  // namespace replay
}  // namespace muster
