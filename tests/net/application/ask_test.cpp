#include "hosts.hpp"

#include <muster/adapters.hpp>
#include <muster/net/coroutines.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/text.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

/// During `reorganize` a coordinator asks its members for data that is too big for a report.

using namespace muster;
using namespace std::chrono_literals;
using test::Host;
using test::Script;
using test::Style;
namespace data = boost::unit_test::data;

namespace {

/// More bytes than a letter of the protocol can carry.
constexpr std::size_t large = 1'000'000;

std::string question_to(NodeId member) {
  return "what does " + to_text(member) + " hold?" + std::string(large, 'q');
}

/// An answer as large as the question, and different for each question and node.
std::string answer_to(const Bytes& question, NodeId self) {
  return to_text(self) + " of " + to_text(digest(question.data)) + std::string(large, 'a');
}

/// A summary of the answers: which nodes answered, and whether each answer had the correct bytes.
std::string tally(const std::map<NodeId, std::string>& answers) {
  std::string tally;
  for (const auto& [member, answer] : answers)
    tally += to_text(member) +
             (answer == answer_to({question_to(member)}, member) ? "=right " : "=" + answer + ' ');
  return tally;
}

auto stops(const std::shared_ptr<test::Player>& player) {
  return [player](const StopContext& context, Done<Report> done) {
    player->stop(context);
    player->ends();
    done();
  };
}

auto starts(const std::shared_ptr<test::Player>& player) {
  return [player](const Assignment& assignment, Done<> done) {
    player->start(assignment);
    player->ends();
    done();
  };
}

std::unique_ptr<Application> asynchronous(Script& script, Services& services) {
  const auto player = std::make_shared<test::Player>(script, services);
  return make_application(AsynchronousFunctions{
      .stop = stops(player),
      .reorganize =
          [player](const Reorganization& all, Done<Definition> done) {
            player->reorganize(all);
            const auto answers = std::make_shared<std::map<NodeId, std::string>>();
            const auto kept = std::make_shared<Done<Definition>>(std::move(done));
            for (const Member& member : all.members)
              all.ask(member.node, {question_to(member.node)},
                      [player, answers, kept, node = member.node,
                       count = all.members.size()](const Done<Bytes>::Outcome& answer) {
                        (*answers)[node] = answer ? answer->data : answer.error();
                        if (answers->size() < count) return;
                        player->ends();
                        (*kept)({tally(*answers)});
                      });
          },
      .start = starts(player),
      .answer = [self = services.self()](
                    const Question& question,
                    Done<Bytes> done) { done({answer_to(question.bytes, self)}); }});
}

class Asking final : public net::Coroutines {
 public:
  Asking(Script& script, Services& services) : Coroutines(services), player_(script, services) {}

  awaitable<Report> stop(StopContext context) override {
    player_.stop(context);
    player_.ends();
    Report report;
    co_return report;
  }
  awaitable<Definition> reorganize(Reorganization all) override {
    const test::Ends ends{player_};
    player_.reorganize(all);
    std::map<NodeId, std::string> answers;
    for (const Member& member : all.members) {
      try {
        Bytes answer = co_await ask(all, member.node, {question_to(member.node)});
        answers[member.node] = std::move(answer.data);
      } catch (const std::runtime_error& error) {
        answers[member.node] = error.what();
      }
    }
    Definition definition;
    definition.data = tally(answers);
    co_return definition;
  }
  awaitable<> start(Assignment assignment) override {
    player_.start(assignment);
    player_.ends();
    co_return;
  }
  awaitable<Bytes> answer(Question question) override {
    co_await wait_for(1us);
    Bytes answer;
    answer.data = answer_to(question.bytes, services().self());
    co_return answer;
  }

 private:
  test::Player player_;
};

std::unique_ptr<Application> coroutines_that_ask(Script& script, Services& services) {
  return net::make_application(std::make_unique<Asking>(script, services));
}

/// An application that answers no question until it is cancelled.
std::unique_ptr<Application> silent(Script& script, Services& services) {
  const auto player = std::make_shared<test::Player>(script, services);
  using Waiting = std::optional<std::stop_callback<std::function<void()>>>;
  const auto waiting = std::make_shared<Waiting>();
  return make_application(AsynchronousFunctions{
      .stop = stops(player),
      .reorganize =
          [player](const Reorganization& all, Done<Definition> done) {
            player->reorganize(all);
            const auto kept = std::make_shared<Done<Definition>>(std::move(done));
            const auto end = [player, kept](const std::string& answer) {
              player->ends();
              (*kept)({answer});
            };
            if (!all.nodes().contains(NodeId{2})) return end("nobody to ask");
            all.ask(NodeId{2}, {"?"}, [end](const Done<Bytes>::Outcome& answer) {
              end(answer ? answer->data : answer.error());
            });
          },
      .start = starts(player),
      .answer =
          [player, waiting](const Question& question, Done<Bytes> done) {
            const auto kept = std::make_shared<Done<Bytes>>(std::move(done));
            waiting->emplace(question.cancelled,
                             [player, kept] { player->services().post([kept] { (*kept)(); }); });
          }});
}

std::vector<test::Case> everywhere(std::vector<Style> styles) {
  std::vector<test::Case> cases;
  for (const Style& style : styles)
    for (bool in_the_lab : {true, false}) cases.push_back({style, in_the_lab});
  return cases;
}

/// The definition of the last `start` of this node.
std::string last_definition(Host& host, std::uint32_t id) {
  std::string last;
  for (const test::Call& call : host.script().calls())
    if (call.node == NodeId{id} && call.hook == Hook::start) last = call.definition.data;
  return last;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(questions)

BOOST_DATA_TEST_CASE(each_member_answers_the_coordinator_that_reorganizes_byte_for_byte,
                     data::make(everywhere({{"asynchronous functions", asynchronous},
                                            {"coroutines", coroutines_that_ask}})),
                     made) {
  const auto host = made.host();
  host->join_all(3);
  BOOST_TEST(last_definition(*host, 1) == "1=right 2=right 3=right ");
  host->kill(3);
  host->await_group({1, 2});
  BOOST_TEST(last_definition(*host, 1) == "1=right 2=right ");
  host->judge();
}

BOOST_DATA_TEST_CASE(a_member_that_fails_before_it_has_answered_is_reorganized_without,
                     data::make(everywhere({{"silent", silent}})), made) {
  const auto host = made.host();
  host->start(1);
  host->await_group({1});
  host->start(3);
  host->await_group({1, 3});
  const auto asked = host->script().count(NodeId{3}, Hook::reorganize);
  host->start(2);
  host->await("a question to node 2", [&] {
    return host->script().count(NodeId{3}, Hook::reorganize) > asked &&
           host->view(2).value_or(View{}).status == Status::Reorganization;
  });
  host->kill(2);
  host->await_group({1, 3});
  host->judge();
}

BOOST_DATA_TEST_CASE(a_question_that_is_not_answered_in_time_is_cancelled,
                     data::make(everywhere({{"silent", silent}})), made) {
  const auto host = made.host({.nodes = 2, .reorganize_deadline = 500ms});
  host->start(1);
  host->await_group({1});
  // Node 2 is alone, asks itself and gets no answer. So its `reorganize` overruns the deadline.
  // When `reorganize` has overrun the deadline twice, the node steps back.
  host->start(2);
  host->await("a reorganize that overran", [&] { return !host->failures(2).empty(); });
  BOOST_TEST(host->failures(2).front() == "reorganize: it overran reorganize_deadline = 500 ms");
  host->judge();
}

BOOST_AUTO_TEST_SUITE_END()
