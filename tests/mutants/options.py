"""Edits of the places in which options answer the Bully's questions and are told facts.

For each option and each question it has an answer to: the answer is missing. For each fact that it
is told: it is not told.
"""

from kinds import Edit

FILE = "core/src/protocol/bully/option_answers.cpp"
TESTS = {
    "quorum": ("bully_grants_test", "bully_options_test", "core_simulator"),
    "calm": ("bully_calm_test", "core_simulator"),
    "preempt": ("bully_options_test", "bully_differing_test", "core_simulator"),
    "settle": ("bully_options_test",),
    "resume": ("bully_options_test", "core_simulator"),
}


def no_answer(option, question, old, new):
    return Edit(f"{option}-does-not-judge-{question}",
                f"{option} has no answer to judge_{question.replace('-', '_')}",
                option, FILE, old, new, TESTS[option])


def not_told(option, fact, call):
    told = call[call.index("(") + 1 : -1]
    unused = "".join(f"  static_cast<void>({name});\n" for name in told.split(", ") if name)
    return Edit(f"{option}-is-not-told-{fact}",
                f"{option} is not told {fact.replace('-', '_')}",
                option, FILE, f"  if ({option}_) {option}_->{call};\n", unused, TESTS[option])


EDITS = (
    no_answer("settle", "beginning",
              "settle_ ? settle_->judge_beginning(settled).value_or(then) : then",
              "((void)settled, then)"),
    no_answer("preempt", "beginning",
              "preempt_ ? preempt_->judge_beginning() : Beginning::elect",
              "Beginning::elect"),
    no_answer("preempt", "reply",
              "preempt_ ? preempt_->judge_reply(j).value_or(Reply::here) : Reply::here",
              "((void)j, Reply::here)"),
    no_answer("preempt", "found",
              "preempt_ ? preempt_->judge_found(j) : Found::goes_on",
              "((void)j, Found::goes_on)"),
    no_answer("quorum", "higher",
              "quorum_ ? quorum_->judge_higher().value_or(Higher::there) : Higher::there",
              "Higher::there"),
    no_answer("quorum", "lower-group", "  if (quorum_) return LowerGroup::ends_by_right;\n", ""),
    no_answer("preempt", "lower-group",
              "preempt_ ? preempt_->judge_lower_group() : LowerGroup::halts",
              "LowerGroup::halts"),
    no_answer("preempt", "order",
              "preempt_ ? preempt_->judge_order() : HaltOrder::descending",
              "HaltOrder::descending"),
    no_answer("calm", "group", "calm_ ? calm_->judge_group() : Group::forms", "Group::forms"),
    no_answer("calm", "joining",
              "calm_ ? calm_->judge_joining(j) : Joining::member",
              "((void)j, Joining::member)"),
    no_answer("quorum", "phase",
              "quorum_ ? quorum_->judge_phase(next) : Phase::now",
              "((void)next, Phase::now)"),
    no_answer("quorum", "asking",
              "quorum_ ? Asking::are_you_normal : Asking::are_you_there",
              "Asking::are_you_there"),
    no_answer("quorum", "member", "  if (quorum_) return quorum_->judge_member(answer);\n", ""),
    no_answer("preempt", "member",
              "preempt_ ? preempt_->judge_member(answer).value_or(of_the_paper) : of_the_paper",
              "of_the_paper"),
    no_answer("quorum", "ready", "  if (quorum_) return quorum_->judge_ready();\n", ""),
    no_answer("calm", "loss",
              "calm_ ? calm_->judge_loss(j, how) : Losing::backs_off",
              "((void)j, (void)how, Losing::backs_off)"),
    no_answer("quorum", "normality",
              "    if (const auto own = quorum_->judge_normality(j, answer)) return *own;\n",
              "    return of_the_paper;\n"),
    no_answer("calm", "normality",
              "calm_ ? calm_->judge_normality(j, answer).value_or(of_the_paper) : of_the_paper",
              "of_the_paper"),
    no_answer("quorum", "coordinator",
              "  if (quorum_) return "
              "quorum_->judge_coordinator(answer).value_or(Coordinator::there);\n",
              "  (void)answer;\n"),
    no_answer("preempt", "takeover",
              "preempt_ ? preempt_->judge_takeover() : Takeover::never",
              "Takeover::never"),
    no_answer("calm", "pause",
              "calm_ ? calm_->judge_pause() : Pausing::goes_on",
              "Pausing::goes_on"),
    no_answer("quorum", "right",
              "  if (!quorum_ || !quorum_->right_is_over()) return RightToWork::lasts;\n",
              "  return RightToWork::lasts;\n"),
    no_answer("quorum", "outsider",
              "quorum_ ? quorum_->judge_outsider(j) : Outsider::may_work",
              "((void)j, Outsider::may_work)"),
    not_told("calm", "step-begins", "step_begins()"),
    not_told("calm", "step-ends", "step_ends()"),
    not_told("quorum", "step-ends", "step_ends()"),
    not_told("quorum", "letter-came", "letter_came()"),
    not_told("calm", "has-died", "has_died(j)"),
    not_told("calm", "new-life-of", "new_life_of(j)"),
    not_told("preempt", "new-life-of", "new_life_of(j)"),
    not_told("quorum", "life-begins", "life_begins()"),
    not_told("quorum", "election-begins", "election_begins()"),
    not_told("preempt", "election-begins", "election_begins()"),
    not_told("calm", "halting-begins", "halting_begins()"),
    not_told("preempt", "halted-by", "halted_by(j)"),
    not_told("calm", "has-halted", "has_halted(j, answer)"),
    not_told("preempt", "joins", "joins(j)"),
    not_told("resume", "told-task", "told_task()"),
    not_told("quorum", "left-out", "left_out(j)"),
    not_told("quorum", "leaves-group", "leaves_group()"),
    not_told("resume", "leaves-group", "leaves_group()"),
    not_told("preempt", "has-failed", "has_failed()"),
    not_told("calm", "call-returned", "call_returned(by, call, result)"),
)  # fmt: skip
