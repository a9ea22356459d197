#pragma once

/// The answers to the questions of option_answers.hpp, the paper's own first.

namespace muster::bully {

enum class Beginning { elect, wait_for_others, wait_to_be_found };
enum class Reply { here, stands_back, does_not_coordinate };
enum class Found { goes_on, waits };
enum class Higher { there, silent };
/// halts: a higher node halts a lower coordinator, and who hears of another group leaves its own;
/// joins: it lets a lower coordinator take it in; ends_by_right: the end of a right ends work.
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
/// spared: it counts as fine, and the Check was not a quiet one; halt_alone: it is kept out.
enum class Finding { fine, lost, spared, halt_alone };
enum class Coordinator { there, silent };
enum class Takeover { never, after_a_while };
enum class Pausing { goes_on, leave };
/// leave: it is over, and so often that this coordinator leaves.
enum class RightToWork { lasts, over, leave };
enum class Outsider { may_work, has_ceased };

}  // namespace muster::bully
