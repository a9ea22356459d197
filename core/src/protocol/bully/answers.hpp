#pragma once

/// The answers to the questions in option_answers.hpp. The first value of each enum is the answer
/// of the paper's text.

namespace muster::bully {

enum class Beginning { elect, wait_for_others, wait_to_be_found };
enum class Reply { here, stands_back, does_not_coordinate };
enum class Found { goes_on, waits };
enum class Higher { there, silent };
/// A higher node meets the group of a lower coordinator.
/// - halts: the higher node halts the coordinator, and a node that hears of a better group leaves
/// its own.
/// - joins: the higher node lets the lower coordinator take it into its group.
/// - ends_by_right: only the end of a right to work ends the work of a node.
enum class LowerGroup { halts, joins, ends_by_right };
enum class Halting { at_once, asks_free };
enum class HaltOrder { descending, rounds };
enum class Group { forms, too_few, leave };
enum class Joining { member, left_out };
enum class Next { reorganize, ready };
enum class Phase { now, later };
enum class Asking { are_you_there, are_you_normal };
enum class Membership { there, lost, ignored };
enum class Readiness { start, install, refuse };
enum class Lost { silent, refused, start_failed };
enum class Losing { backs_off, keeps_level };
/// spared: the node counts as Normal, but this Check does not count as a quiet one. halt_alone: the
/// node is halted, and the group goes on without it.
enum class Finding { fine, lost, spared, halt_alone };
enum class Coordinator { there, silent };
enum class Takeover { never, after_a_while };
enum class Pausing { goes_on, leave };
/// leave: the right is over, and this coordinator has lost its groups so often that it leaves.
enum class RightToWork { lasts, over, leave };
enum class Outsider { may_work, has_ceased };

}  // namespace muster::bully
