#pragma once

#include <muster/values/describe.hpp>

/// The switches: the places at which a protocol departs from the paper's text.

namespace MUSTER_EXPORT muster {

/// The switches of the Bully algorithm. docs/decisions/switches.md describes each one.
struct Repairs {
  bool start_over_halted = true;
  bool normal_for_me = true;
  bool lost_members = true;
  bool report_refusals = true;
  bool tags = true;
  bool parallel_calls = true;
  bool proofs = true;
  bool stop_beside_halts = true;
  bool save_promises_only = true;
  bool back_off = true;
  bool left_behind = true;

  /// The paper's text: every switch is off.
  static constexpr Repairs none() {
    return {false, false, false, false, false, false, false, false, false, false, false};
  }
  /// Whether options may be chosen: every switch is on. The switch `left_behind` alone may be off,
  /// because it is newer than the options.
  [[nodiscard]] constexpr bool allow_options() const;
  /// Whether the assertions hold. If nodes do not report refusals, the answer to a Halt must wait
  /// for the end of the stop (docs/findings.md, V9).
  [[nodiscard]] constexpr bool safe() const { return report_refusals || !stop_beside_halts; }
};
MUSTER_DESCRIBE(Repairs, start_over_halted, normal_for_me, lost_members, report_refusals, tags,
                parallel_calls, proofs, stop_beside_halts, save_promises_only, back_off,
                left_behind);
/// Older journals do not contain this switch.
template <>
inline constexpr bool left_out_in<&Repairs::left_behind> = true;

constexpr bool Repairs::allow_options() const {
  Repairs with_later = *this;
  with_later.left_behind = true;
  return with_later == Repairs{};
}

namespace invitation {

using muster::operator==;

/// The switches of the Invitation algorithm. docs/decisions/invitation.md describes each one.
struct Repairs {
  /// The paper's own rule and no departure from it. The lab turns this rule off to show its
  /// purpose.
  bool safe_counter = true;
  bool growing_numbers = true;
  bool reorganization_first = true;
  bool probe_tells_status = true;
  bool ignore_own_group = true;
  bool report_refusals = true;
  bool recheck_probe = true;
  bool lost_members = true;
  bool known_invitees = true;
  bool tags = true;
  bool parallel_calls = true;
  bool proofs = true;
  bool back_off = true;

  /// The paper's text: every switch is off, except the paper's own rule.
  static constexpr Repairs none() {
    return {true,  false, false, false, false, false, false,
            false, false, false, false, false, false};
  }
  /// Whether the assertions hold. A node that counts groups from 0 again gives a new group an old
  /// number (docs/findings.md, I4).
  [[nodiscard]] constexpr bool safe() const { return safe_counter; }
};
MUSTER_DESCRIBE(Repairs, safe_counter, growing_numbers, reorganization_first, probe_tells_status,
                ignore_own_group, report_refusals, recheck_probe, lost_members, known_invitees,
                tags, parallel_calls, proofs, back_off);

}  // namespace invitation

}  // namespace muster
