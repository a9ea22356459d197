#include "host.hpp"
#include "words.hpp"

// What a coordinator that reorganizes may ask, and what a member owes to it, without a host.

namespace muster {
namespace {

using namespace test;

const std::string over = "the time to ask is over: it was halted, or has ended";

struct Reorganizing : Host {
  Reorganizing() {
    stopped_first(*this);
    runner.perform(Reorganize{Ticket{2}, g7, {member(1), member(2), member(3)}});
  }
  void ask(std::uint32_t id, std::string question) {
    played.reorganized->ask(NodeId{id}, {std::move(question)}, [this](Outcome answer) {
      answers.push_back(answer ? answer->data : answer.error());
    });
  }
  using Host::ask;
  Words answers;
};

BOOST_AUTO_TEST_CASE(a_question_is_taken_to_the_member_and_its_answer_told) {
  Reorganizing host;
  host.ask(3, "what?");
  BOOST_TEST(host.asked.at(NodeId{3}).first == "what?");
  host.answer(3, Bytes{"that"});
  BOOST_TEST(host.answers == Words{"that"});
}

BOOST_AUTO_TEST_CASE(one_question_at_a_time_is_on_its_way_to_each_member) {
  Reorganizing host;
  host.ask(3, "a");
  host.ask(3, "b");
  host.ask(1, "c");
  BOOST_TEST(host.asked.at(NodeId{3}).first == "a");
  BOOST_TEST(host.asked.at(NodeId{1}).first == "c");
  host.answer(3, Bytes{"A"});
  BOOST_TEST(host.asked.at(NodeId{3}).first == "b");
}

BOOST_AUTO_TEST_CASE(a_coordinator_that_asks_itself_is_answered_by_its_own_application) {
  Reorganizing host;
  host.ask(2, "mine?");
  BOOST_TEST(host.asked.empty());
  BOOST_REQUIRE(host.played.question.has_value());
  BOOST_TEST(host.played.question->bytes.data == "mine?");
  BOOST_TEST((host.played.question->from == NodeId{2}));
  BOOST_TEST((host.played.question->group == g7));
  host.ask(2, "more?");
  (*host.played.answered)({"yes"});
  host.look();
  BOOST_TEST(host.played.question->bytes.data == "more?");
  BOOST_TEST(host.answers == Words{"yes"});
}

BOOST_AUTO_TEST_CASE(what_cannot_be_asked_fails_and_says_why) {
  Reorganizing host;
  host.ask(4, "?");
  host.ask(3, "1234567");
  for (int i = 0; i < 65; ++i) host.ask(1, "?");
  BOOST_TEST(host.answers == (Words{"node 4 is no member of the group",
                                    "the question of 7 bytes is larger than the limit of 6",
                                    "64 questions to node 1 are not answered yet"}));
}

BOOST_AUTO_TEST_CASE(who_asks_when_the_life_is_gone_touches_nothing_of_it) {
  auto host = std::make_unique<Reorganizing>();
  const Reorganization kept = *host->played.reorganized;
  host.reset();
  kept.ask(NodeId{3}, {"?"}, [](const HookHost::Outcome&) { BOOST_ERROR("it was answered"); });
}

BOOST_AUTO_TEST_CASE(questions_end_with_the_reorganize_that_asked) {
  Reorganizing host;
  host.ask(1, "a");
  host.ask(1, "b");
  const auto late = host.asked.at(NodeId{1}).second;
  (*host.played.bytes)({"all"});
  host.look();
  BOOST_TEST(host.answers == (Words{over, over}));
  BOOST_TEST(host.asked.empty());
  late(HookHost::Outcome(Bytes{"late"}));
  host.ask(1, "c");
  BOOST_TEST(host.answers.size() == 3u);
  BOOST_TEST(host.answers.back() == over);
}

BOOST_AUTO_TEST_CASE(questions_end_when_the_reorganize_overruns) {
  Reorganizing host;
  host.ask(1, "a");
  host.ask(2, "b");
  host.overrun_();
  BOOST_TEST(host.answers == (Words{over, over}));
  BOOST_TEST(host.played.question->stop_requested());
}

BOOST_AUTO_TEST_CASE(questions_end_with_a_reorganize_that_is_halted) {
  Reorganizing host;
  host.ask(1, "a");
  host.runner.perform(Stop{Ticket{3}, {StopReason::halted, NodeId{3}}, false});
  host.played.bytes->fail("cancelled");
  host.look();
  BOOST_TEST(host.answers == Words{over});
  BOOST_TEST(host.last<Stopped>());
}

struct Asked : Host {
  Asked() { stopped_first(*this); }
  void ask(const std::string& question) { ask(question, false); }
  void ask(const std::string& question, bool working) {
    last_number = runner.asked({NodeId{3}, g7, working, {question}}, [this](Outcome answer) {
      answers.push_back(answer ? answer->data : answer.error());
    });
  }
  void start() { runner.perform(Start{Ticket{2}, task_of({NodeId{2}}, "all"), g7}); }
  using Host::ask;
  Words answers;
  std::uint64_t last_number = 0;
};

BOOST_AUTO_TEST_CASE(a_member_answers_one_question_after_the_other) {
  Asked host;
  host.ask("a");
  host.ask("b");
  BOOST_TEST(host.played.question->bytes.data == "a");
  (*host.played.answered)({"A"});
  host.look();
  BOOST_TEST(host.played.question->bytes.data == "b");
  host.played.answered->fail("torn");
  host.look();
  BOOST_TEST(host.answers == (Words{"A", "torn"}));
}

BOOST_AUTO_TEST_CASE(an_answer_that_is_too_large_is_none) {
  Asked host;
  host.ask("a");
  (*host.played.answered)({"1234567"});
  host.look();
  BOOST_TEST(host.answers.at(0) == "its answer of 7 bytes is larger than the limit of 6");
}

BOOST_AUTO_TEST_CASE(no_hook_begins_before_an_answer_has_ended) {
  Asked host;
  host.ask("a");
  host.ask("b");
  host.start();
  BOOST_TEST(host.played.question->stop_requested());
  BOOST_TEST(!host.played.started.has_value());
  BOOST_TEST(!host.granted.has_value());  // nor is a permit given
  BOOST_TEST(host.answers.size() == 1u);  // the second is not put to the application
  host.played.answered->fail("cancelled");
  host.look();
  BOOST_TEST(host.played.started.has_value());
  BOOST_TEST((host.granted == g7));
}

BOOST_AUTO_TEST_CASE(a_start_that_waited_for_an_answer_and_is_halted_has_begun_and_is_cancelled) {
  Asked host;
  host.ask("a");
  host.start();
  host.played.stopped.reset();
  host.runner.perform(Stop{Ticket{3}, {StopReason::halted, NodeId{3}}, true});
  host.played.answered->fail("cancelled");
  host.look();
  BOOST_TEST(!host.granted.has_value());
  BOOST_REQUIRE(host.played.started.has_value());
  BOOST_TEST(host.played.started->stop_requested());
  BOOST_TEST(!host.played.stopped.has_value());
  (*host.played.done)();
  host.look();
  BOOST_TEST(host.played.stopped.has_value());
}

BOOST_AUTO_TEST_CASE(a_halt_waits_for_the_answer_that_is_being_made) {
  Asked host;
  host.ask("a");
  host.runner.perform(Stop{Ticket{3}, {StopReason::halted, NodeId{3}}, false});
  BOOST_TEST(!host.last<Stopped>());
  host.played.answered->fail("cancelled");
  host.look();
  BOOST_TEST(host.last<Stopped>());
}

BOOST_AUTO_TEST_CASE(an_answer_that_does_not_end_ends_the_process) {
  Asked host;
  host.ask("a");
  host.runner.perform(Stop{Ticket{3}, {StopReason::halted, NodeId{3}}, false});
  host.overrun_();
  BOOST_TEST(host.died == "a cancelled answer overran stop_deadline = 2 s");
}

BOOST_AUTO_TEST_CASE(a_question_that_is_given_up_is_cancelled_or_never_put) {
  Asked host;
  host.ask("a");
  const auto first = host.last_number;
  host.ask("b");
  host.runner.not_wanted(host.last_number);
  host.runner.not_wanted(first);
  BOOST_TEST(host.played.question->stop_requested());
  (*host.played.answered)({"A"});
  host.look();
  BOOST_TEST(host.played.question->bytes.data == "a");
}

BOOST_AUTO_TEST_CASE(what_is_asked_of_those_who_work_waits_for_the_start) {
  Asked host;
  host.ask("a", true);
  host.start();
  BOOST_TEST(!host.played.question.has_value());
  (*host.played.done)();
  host.look();
  BOOST_REQUIRE(host.played.question.has_value());
  BOOST_TEST(host.played.question->bytes.data == "a");
  BOOST_TEST(host.played.question->working);
}

BOOST_AUTO_TEST_CASE(what_waits_for_a_start_that_does_not_come_fails) {
  Asked host;
  host.ask("a", true);
  host.runner.perform(Stop{Ticket{3}, {StopReason::halted, NodeId{3}}, false});
  BOOST_TEST(host.answers.at(0) == "it was halted, or assigned something, meanwhile");
}

BOOST_AUTO_TEST_CASE(a_stop_does_not_begin_before_an_answer_of_one_who_works_has_ended) {
  Asked host;
  host.start();
  (*host.played.done)();
  host.look();
  host.ask("a", true);
  host.played.stopped.reset();
  host.runner.perform(Stop{Ticket{3}, {StopReason::halted, NodeId{3}}, true});
  BOOST_TEST(host.played.question->stop_requested());
  BOOST_TEST(!host.played.stopped.has_value());
  (*host.played.answered)({"A"});
  host.look();
  BOOST_TEST(host.played.stopped.has_value());
  BOOST_TEST(host.answers.at(0) == "A");
}

BOOST_AUTO_TEST_CASE(a_coordinator_asks_from_its_start_until_it_is_to_stop) {
  Host host;
  stopped_first(host);
  const GroupNumber mine{8, NodeId{2}};
  host.runner.perform(Start{Ticket{2}, task_of({NodeId{1}, NodeId{2}}, "all"), mine});
  Words answers;
  const Assignment work = *host.played.started;
  const auto ask = [&] {
    work.ask(NodeId{1}, {"?"}, [&](const HookHost::Outcome& answer) {
      answers.push_back(answer ? answer->data : answer.error());
    });
  };
  ask();
  host.answer(1, Bytes{"!"});
  BOOST_TEST(answers.at(0) == "!");
  (*host.played.done)();
  host.look();
  ask();
  host.runner.perform(Stop{Ticket{3}, {StopReason::halted, NodeId{3}}, true});
  BOOST_TEST(answers.at(1) == over);
  ask();
  BOOST_TEST(answers.at(2) == over);
}

BOOST_AUTO_TEST_CASE(a_member_that_is_no_coordinator_asks_nobody) {
  Asked host;
  host.start();
  bool answered = false;
  host.played.started->ask(NodeId{2}, {"?"}, [&](const auto& answer) {
    answered = true;
    BOOST_TEST(!answer.has_value());
  });
  BOOST_TEST(answered);
}

}  // namespace
}  // namespace muster
