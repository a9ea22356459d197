#pragma once

#include <muster/protocol/step.hpp>

/// The steps that a journal may omit (docs/reference/journal.md).

namespace MUSTER_EXPORT muster {
namespace journal {

/// True for a step of a round of Check(i) or Timeout(i) that found nothing. Before and after such a
/// step, the node is Normal and works in its group. The event is a timer of such a round, a
/// question or answer about a node's state, or the silence of a node that is no member. The step
/// changes nothing that others may see of the node, except the procedure that runs.
bool is_idle(const View& before, const Event& event, const Actions& actions, const View& after);

}  // namespace journal
}  // namespace muster
