#pragma once

#include <muster/protocol/step.hpp>

/// What a journal may leave out because nothing comes of it (docs/journal.md).

namespace MUSTER_EXPORT muster {
namespace journal {

/// True for a step of a round of Check(i) or Timeout(i) that found nothing: the node works in its
/// group, Normal, before and after it; a timer of such a round expired, or another node was asked
/// how it is, or said so, or is no member and did not answer; and all that others may see of the
/// node, but for the procedure that runs, is what it was.
bool is_idle(const View& before, const Event& event, const Actions& actions, const View& after);

}  // namespace journal
}  // namespace muster
