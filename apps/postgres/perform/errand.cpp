#include "apps/postgres/perform/errand.hpp"

#include "apps/postgres/server/tools.hpp"

#include <boost/asio/post.hpp>

#include <type_traits>

namespace muster::postgres {
namespace {

using namespace std::chrono_literals;

/// What any server answers in, that is not about to be given up.
constexpr Duration usual_bound = 5s;
/// As long as a question takes: who asks more often hears no more.
constexpr Duration little = 2ms;

}  // namespace

Errand::~Errand() {
  // It would answer somebody who is not there any more.
  if (core_.kept && !core_.kept->idle()) core_.kept.reset();
}

void Errand::done(HasHappened what) {
  if (const auto tell = std::exchange(tell_, nullptr)) tell(std::move(what));
}

bool Errand::holds(const Expected<>& outcome) {
  if (!outcome) fail(outcome.error().what);
  return outcome.has_value();
}

void Errand::ask(const std::string& statement, std::vector<std::string> parameters, Then then,
                 Otherwise otherwise) {
  if (!core_.kept || !core_.kept->idle())
    return ask_anew(statement, std::move(parameters), std::move(then), std::move(otherwise));
  put(*core_.kept,
      {statement, std::move(parameters), usual_bound, std::move(then), std::move(otherwise)});
}

void Errand::ask_anew(const std::string& statement, std::vector<std::string> parameters, Then then,
                      Otherwise otherwise) {
  if (!core_.postmaster) return fail("PostgreSQL does not run");
  connect(core_.kept, core_.options.node,
          {statement, std::move(parameters), usual_bound, std::move(then), std::move(otherwise)});
}

void Errand::ask_there(NodeId node, const std::string& statement, Then then, Otherwise otherwise) {
  Question question{statement, {}, std::nullopt, std::move(then), std::move(otherwise)};
  if (there_ && there_->idle()) return put(*there_, std::move(question));
  connect(there_, node, std::move(question));
}

void Errand::connect(std::optional<Session>& session, NodeId to, Question question) {
  session.reset();
  session.emplace(core_.executor, session_parameters(core_.options, to));
  session->connect(usual_bound, [this, &session, question = std::move(question)](auto connected) {
    if (!tell_) return;
    if (connected) return put(*session, question);
    session.reset();
    if (question.otherwise) return question.otherwise(connected.error());
    fail("cannot ask PostgreSQL: " + connected.error().what);
  });
}

void Errand::put(Session& session, Question question) {
  const std::string statement = question.statement;
  const std::vector<std::string> parameters = question.parameters;
  const auto bound = question.bound;
  session.ask(statement, parameters, bound, [this, question = std::move(question)](auto answer) {
    if (!tell_) return;
    if (answer) return question.then(*answer);
    if (question.otherwise) return question.otherwise(answer.error());
    fail("PostgreSQL refuses \"" + question.statement + "\": " + answer.error().what);
  });
}

void Errand::again(std::function<void()> what) {
  pause_.wait(little, [this, what = std::move(what)] {
    if (tell_) what();
  });
}

void Errand::run(const std::string& program, std::vector<std::string> arguments,
                 std::function<void()> then) {
  tool_.reset();
  tool_.emplace(core_.executor, program_of(core_.options, program, std::move(arguments)),
                [this, then = std::move(then)](const Expected<>& outcome) {
                  if (tell_ && holds(outcome)) then();
                });
}

std::unique_ptr<Errand> errand_for(const What& what, Core& core, Tell tell) {
  return std::visit(
      [&](const auto& order) -> std::unique_ptr<Errand> {
        using Kind = std::decay_t<decltype(order)>;
        if constexpr (boost::mp11::mp_contains<Performed, Kind>::value)
          return make_errand(order, core, std::move(tell));
        else
          return nullptr;
      },
      what);
}

}  // namespace muster::postgres
