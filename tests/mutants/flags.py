"""Lines of the protocols taken out, assumptions taken away: `muster check` has to find it."""

from kinds import Flag

LITERAL = "check --literal --strike counter-test"
THREE = f"{LITERAL} --channels fifo --nodes 3 --failures 2 --queue 1"
TWO = f"{LITERAL} --nodes 2 --failures 2 --queue 3"
# Without a mutant such a world is searched as far as this: further than any mutant needs.
ENOUGH = "--limit-states 200000"


def violated(assertion):
    return f"assertion {assertion} does not hold"


FLAGS = (
    Flag("stop-spares-the-election",
         "STOP does not end an Election(i) that asks or halts", "6.4; Assertion 1",
         THREE, "--strike stop-ends-election", violated("1a"), ENOUGH),
    Flag("no-h-test",
         "NewCoordinator(i, j) is accepted though S(i).h is not j", "6.2; Assertion 1",
         THREE, "--strike h-test", violated("1a"), ENOUGH),
    Flag("no-c-test",
         "Ready(i, j, x) is accepted though S(i).c is not j", "3.1; P4",
         THREE, "--strike c-test", violated("hook-grammar"), ENOUGH),
    Flag("h-kept-at-recovery",
         "a life begins in Election, halted by whom its former life was", "6.1; Assertion 1",
         THREE, "--strike down-at-recovery --strike h-undefined-at-recovery",
         violated("1a"), ENOUGH),
    Flag("halts-in-parallel",
         "all Halts are sent at once", "6.5; Assertion 1",
         THREE, "--strike halts-one-by-one", violated("1a"), ENOUGH),
    Flag("halts-ascending",
         "the lowest node is halted first", "6.5; Assertion 1",
         THREE, "--strike halts-descending", violated("1a"), ENOUGH),
    Flag("tags-instead-of-the-order",
         "all Halts are sent at once, and elections are matched exactly", "6.5; Assertion 1",
         f"{THREE} --repair tags=on", "--strike halts-one-by-one", violated("1a"), ENOUGH),
    Flag("no-order",
         "letters overtake each other", "assumption 7, 6.9; P4",
         TWO, "--channels any", violated("hook-grammar"), "--channels fifo"),
    Flag("order-within-a-life",
         "letters of a life are overtaken by those of the next", "assumption 7, 6.9; P4",
         TWO, "--channels incarnation", violated("hook-grammar"), "--channels fifo"),
    Flag("no-order-and-no-tags",
         "letters overtake each other and elections are matched by their candidate alone",
         "6.9; P4",
         "check --nodes 2 --failures 2 --queue 4 --hooks slow --channels any", "--repair tags=off",
         violated("hook-grammar"), ENOUGH),
    Flag("silence-believed-too-early",
         "a call counts as unanswered while its answer is on its way", "assumption 8",
         f"{LITERAL} --channels fifo --nodes 2 --failures 0 --queue 3 --start normal",
         "--timeouts any", violated("1a"), "--timeouts certain"),
    Flag("normal-for-another",
         "AreYouNormal is answered Yes to a node that is not one's coordinator",
         "6.12; Assertion 2",
         f"{LITERAL} --channels fifo --nodes 2 --failures 0 --queue 3 --start normal --timeouts 2"
         " --assertion hook-grammar --liveness",
         "--repair normal_for_me=off", "assertion 2 cannot be reached",
         "--repair normal_for_me=on"),
    Flag("reorganize-before-all-have-stopped",
         "reorganize does not wait for the answers to NewCoordinator", "6.20; P4",
         "check --nodes 3 --failures 2 --hooks slow", "--strike reorganize-after-stops",
         violated("hook-grammar"), ENOUGH),
    Flag("silent-while-leaving",
         "a node that leaves answers nothing while it stops", "Assertion 1",
         "check --nodes 3 --failures 1 --hooks slow --leaves 1", "--strike leaving-answers",
         violated("1a"), ENOUGH),
    Flag("new-life-answers-for-the-old",
         "Hello of a new life makes Halts and questions to that node unanswered",
         "6.21; Assertion 1",
         "check --nodes 3 --failures 0 --leaves 1",
         "--strike halt-outlives-life --strike question-outlives-life", violated("1a"),
         "--limit-states 900000"),
    Flag("counter-from-nothing",
         "a new life counts its groups from 0", "6.17; group numbers grow",
         "check --nodes 2 --failures 2 --counters", "--strike safe-counter",
         violated("group-grows"), ENOUGH),
    Flag("invitation-counter-from-nothing",
         "a new life counts its groups from 0", "6.17; Assertion 3",
         "check --protocol invitation --literal --nodes 3 --failures 1 --queue 2 --channels fifo",
         "--repair safe_counter=off", violated("3b"), ENOUGH),
    Flag("invitation-counter-not-learned",
         "a group may have a smaller number than those its members come from",
         "group numbers grow",
         "simulate --protocol invitation --seeds 1..40", "--repair growing_numbers=off",
         "violated an assertion", "--repair growing_numbers=on"),
)  # fmt: skip
