"""Mutants without a line of a protocol or without an assumption, which `muster check` must find."""

from kinds import Flag

LITERAL = "check --literal --strike counter-test"
THREE = f"{LITERAL} --channels fifo --nodes 3 --failures 2 --queue 1"
TWO = f"{LITERAL} --nodes 2 --failures 2 --queue 3"
# Without a mutant, the search of such a world ends at this limit, beyond the states that any mutant
# needs.
ENOUGH = "--limit-states 200000 --accept-limit"


def violated(assertion):
    return f"assertion {assertion} does not hold"


FLAGS = (
    Flag("no-c-test",
         "Ready(i, j, x) is accepted though S(i).c is not j", "Ready; P4",
         THREE, "--strike c-test", violated("hook-grammar"), ENOUGH),
    Flag("order-within-a-life",
         "letters of the next life overtake those of the life before",
         "assumption 7; Late letters and lives; P4",
         TWO, "--channels incarnation", violated("hook-grammar"), "--channels fifo"),
    Flag("no-order-and-no-tags",
         "letters overtake each other, and an election is identified by its candidate alone",
         "Late letters and lives; P4",
         "check --nodes 2 --failures 2 --queue 4 --hooks slow --channels any", "--repair tags=off",
         violated("hook-grammar"), ENOUGH),
    Flag("normal-for-another",
         "a node answers Yes to AreYouNormal from a node that is not its coordinator",
         "A split does not heal by itself; Assertion 2",
         f"{LITERAL} --channels fifo --nodes 2 --failures 0 --queue 3 --start normal --timeouts 2"
         " --assertion hook-grammar --liveness",
         "--repair normal_for_me=off", "assertion 2 cannot be reached",
         "--repair normal_for_me=on", 9),
    Flag("reorganize-before-all-have-stopped",
         "reorganize does not wait for the answers to NewCoordinator", "Slow stops; P4",
         "check --nodes 3 --failures 2 --hooks slow", "--strike reorganize-after-stops",
         violated("hook-grammar"), ENOUGH),
    Flag("new-life-answers-for-the-old",
         "the Hello of a new life makes Halts and questions to that node unanswered",
         "The end of a life; Assertion 1",
         "check --nodes 3 --failures 0 --leaves 1",
         "--strike halt-outlives-life --strike question-outlives-life", violated("1a"),
         "--limit-states 900000 --accept-limit"),
    Flag("counter-from-nothing",
         "a new life counts its groups from 0 again", "The group counter; group numbers grow",
         "check --nodes 2 --failures 2 --counters", "--strike safe-counter",
         violated("group-grows"), ENOUGH),
    Flag("invitation-counter-not-learned",
         "a group may have a smaller number than the earlier groups of its members",
         "group numbers grow",
         "check --protocol invitation --nodes 2 --failures 1 --assertion group-grows",
         "--repair growing_numbers=off", violated("group-grows"), ENOUGH),
)  # fmt: skip
