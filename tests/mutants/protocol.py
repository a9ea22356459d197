"""Edits of the protocols: core/src/bully and core/src/invitation."""

from kinds import Edit

BULLY = "bully_sections_test"
INVITATION = "invitation_sections_test"

EDITS = (
    Edit("started-before-it-is-durable",
         "start is called before the definition is saved", "P5",
         "core/src/bully/procedures.cpp",
         """  if (state_.safe.assigned != Assigned{*state_.d, *state_.g}) install();
  state_.application = Activity::Starting;
  actions_.emplace_back(Start{next_ticket(), *state_.d, *state_.g});
""",
         """  state_.application = Activity::Starting;
  actions_.emplace_back(Start{next_ticket(), *state_.d, *state_.g});
  if (state_.safe.assigned != Assigned{*state_.d, *state_.g}) install();
""",
         (BULLY,)),
    Edit("group-number-used-twice",
         "a new group has the number of the last one", "group numbers grow",
         "core/src/bully/procedures.cpp",
         "state_.g = GroupNumber{++state_.counter, config_.self};",
         "state_.g = GroupNumber{state_.counter, config_.self};",
         (BULLY,)),
    Edit("stop-leaves-calls-waiting",
         "STOP answers no NewCoordinator and no Ready that waits", "3.3; assumption 8",
         "core/src/bully/undecided.cpp",
         'refuse(owed.to, owed.call, owed.until, "stopped meanwhile");',
         "(void)owed;",
         (BULLY,)),
    Edit("late-plan-believed",
         "the result of an abandoned reorganize is taken", "P7",
         "core/src/bully/undecided.cpp",
         "if (state_.application != Activity::Reorganizing || event.ticket != state_.ticket)"
         " return;",
         "if (state_.application != Activity::Reorganizing) return;",
         (BULLY,)),
    Edit("old-death-of-a-member",
         "the end of a member's former life counts as the loss of the member", "6.21",
         "core/src/bully/turn.cpp",
         "if (lost && lost->incarnation <= life) lost_member();",
         "if (lost) lost_member();",
         (BULLY,)),
    Edit("pause-spares-the-state",
         "a node that paused keeps its status and who halted it", "assumption 9; 6.11",
         "core/src/bully/turn.cpp",
         "  stop({StopReason::paused, std::nullopt});\n  fail();\n",
         "  stop({StopReason::paused, std::nullopt});\n",
         (BULLY,)),
    Edit("lost-member-forgotten",
         "a member that does not answer Ready is left out, and the definition names it",
         "3.1: timeout -> Election(i)",
         "core/src/bully/returns.cpp",
         "if (!as<Installed>(result)) return start_over(false);",
         "if (!as<Installed>(result) && result) return start_over(false);",
         (BULLY,)),
    Edit("letters-of-a-former-life",
         "letters of a life that is over are still obeyed", "6.9",
         "core/src/bully/turn.cpp",
         "if (repairs_.tags && letter.incarnation < seen) return;",
         "if (repairs_.tags && letter.incarnation.value + 1 < seen.value) return;",
         (BULLY,)),
    Edit("reorganize-before-own-stop",
         "the coordinator reorganizes while its own application still works", "P4; 6.20",
         "core/src/bully/procedures.cpp",
         """  if (!wait->announced.empty() && stands(Line::reorganize_after_stops)) return;
  if (state_.application != Activity::Idle) return;
""",
         """  if (!wait->announced.empty() && stands(Line::reorganize_after_stops)) return;
""",
         (BULLY,)),
    Edit("invitation-ready-of-another-group",
         "Ready is accepted whatever group it is of", "4.1: if S.s = Reorganization and S.g = gn",
         "core/src/invitation/procedures.cpp",
         "if (state_.s != Status::Reorganization || state_.g != call.group || coordinates())",
         "if (state_.s != Status::Reorganization || coordinates())",
         (INVITATION,)),
    Edit("invitation-accept-of-another-group",
         "Accept is registered whatever group it is for", "4.1: if S.s = Election and S.g = gn",
         "core/src/invitation/procedures.cpp",
         "if (!wait || state_.g != call.group)",
         "if (!wait)",
         (INVITATION,)),
    Edit("invitation-accept-before-stopped",
         "Accept is sent while the application still works", "P4",
         "core/src/invitation/procedures.cpp",
         """  if (!wait || !wait->invited.empty() || !wait->not_invited.empty()) return;
  if (state_.application != Activity::Idle) return;
""",
         """  if (!wait || !wait->invited.empty() || !wait->not_invited.empty()) return;
""",
         (INVITATION,)),
    Edit("invitation-member-of-an-old-group",
         "AreYouThere is answered Yes for a group that is no more", "4.1: reply [[ S.g = gn ... ]]",
         "core/src/invitation/procedures.cpp",
         "bool yes = state_.g == call.group && coordinates() && j;",
         "bool yes = coordinates() && j;",
         (INVITATION,)),
    Edit("invitation-number-before-it-is-safe",
         "a counter beyond the limit is used before a higher limit is durable", "6.17",
         "core/src/invitation/procedures.cpp",
         """  state_.g = GroupNumber{++state_.counter, config_.self};
  if (state_.counter > state_.safe.counter_limit) save();
""",
         """  state_.g = GroupNumber{++state_.counter, config_.self};
""",
         (INVITATION,)),
)  # fmt: skip
