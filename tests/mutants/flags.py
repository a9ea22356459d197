"""Lines of the protocols taken out, assumptions taken away: `muster check` has to find it."""

from kinds import Flag

LITERAL = "check --literal --strike counter-test"
THREE = f"{LITERAL} --channels fifo --nodes 3 --failures 2 --queue 1"
TWO = f"{LITERAL} --nodes 2 --failures 2 --queue 3"
# Without a mutant such a world is searched as far as this: further than any mutant needs.
ENOUGH = "--limit-states 200000 --accept-limit"


def violated(assertion):
    return f"assertion {assertion} does not hold"


FLAGS = (
    Flag("no-c-test",
         "Ready(i, j, x) is accepted though S(i).c is not j", "3.1; P4",
         THREE, "--strike c-test", violated("hook-grammar"), ENOUGH),
    Flag("order-within-a-life",
         "letters of a life are overtaken by those of the next", "assumption 7, 6.9; P4",
         TWO, "--channels incarnation", violated("hook-grammar"), "--channels fifo"),
    Flag("no-order-and-no-tags",
         "letters overtake each other and elections are matched by their candidate alone",
         "6.9; P4",
         "check --nodes 2 --failures 2 --queue 4 --hooks slow --channels any", "--repair tags=off",
         violated("hook-grammar"), ENOUGH),
    Flag("normal-for-another",
         "AreYouNormal is answered Yes to a node that is not one's coordinator",
         "6.12; Assertion 2",
         f"{LITERAL} --channels fifo --nodes 2 --failures 0 --queue 3 --start normal --timeouts 2"
         " --assertion hook-grammar --liveness",
         "--repair normal_for_me=off", "assertion 2 cannot be reached",
         "--repair normal_for_me=on", 9),
    Flag("reorganize-before-all-have-stopped",
         "reorganize does not wait for the answers to NewCoordinator", "6.20; P4",
         "check --nodes 3 --failures 2 --hooks slow", "--strike reorganize-after-stops",
         violated("hook-grammar"), ENOUGH),
    Flag("new-life-answers-for-the-old",
         "Hello of a new life makes Halts and questions to that node unanswered",
         "6.21; Assertion 1",
         "check --nodes 3 --failures 0 --leaves 1",
         "--strike halt-outlives-life --strike question-outlives-life", violated("1a"),
         "--limit-states 900000 --accept-limit"),
    Flag("counter-from-nothing",
         "a new life counts its groups from 0", "6.17; group numbers grow",
         "check --nodes 2 --failures 2 --counters", "--strike safe-counter",
         violated("group-grows"), ENOUGH),
    Flag("invitation-counter-not-learned",
         "a group may have a smaller number than those its members come from",
         "group numbers grow",
         "check --protocol invitation --nodes 2 --failures 1 --assertion group-grows",
         "--repair growing_numbers=off", violated("group-grows"), ENOUGH),
)  # fmt: skip
