#pragma once

#include <muster/journal/journal.hpp>
#include <muster/values/failure.hpp>

#include <map>
#include <optional>
#include <string>

/// A journal run again: each recorded event is given to `step`, and what comes of it is compared.

namespace MUSTER_EXPORT muster {
namespace replay {

/// Where a life did not go as it is recorded.
struct Difference {
  std::string of;  ///< "actions", "state", or "segment": the state with which a segment begins
  std::string recorded;  ///< both in JSON
  std::string replayed;
};

/// Takes the lines of one journal in their order; lives of several nodes may be mixed.
class Replayer {
 public:
  /// What differs in this line; nothing where it is exact, or no step. A life that differed once is
  /// not followed any further, nor one of which lines are missing, before its next segment or the
  /// line that tells of that gap. The failure is one of the journal: this line cannot stand here.
  Expected<std::optional<Difference>> take(const journal::Line& line);

  /// The state of a node that is being followed; null where there is none.
  [[nodiscard]] const Protocol* state_of(NodeId node) const;

  [[nodiscard]] std::uint64_t exact_steps() const { return exact_; }
  /// Steps that were not run again.
  [[nodiscard]] std::uint64_t passed_over() const { return passed_over_; }
  [[nodiscard]] std::uint64_t lives() const { return lives_; }

 private:
  struct ReplayedLife {
    Incarnation incarnation;
    Config config;
    Protocol state;
    std::optional<std::uint64_t> seq;  ///< of its last line, where known
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
