#include "apps/postgres/server/interview.hpp"

namespace muster::postgres {

void Interview::add(std::string statement, std::vector<std::string> parameters, Take take) {
  questions_.push_back({std::move(statement), std::move(parameters), std::move(take)});
}

void Interview::begin(std::function<void(SqlExpected<>)> over) {
  over_ = std::move(over);
  session_.connect(bound_, [this](const auto& connected) {
    if (!connected) return end(connected.error());
    ask_next();
  });
}

void Interview::ask_next() {
  if (questions_.empty()) return end({});
  const Question question = std::move(questions_.front());
  questions_.pop_front();
  session_.ask(question.statement, question.parameters, bound_,
               [this, take = question.take](const auto& answer) {
                 if (!answer) return end(answer.error());
                 take(answer->rows);
                 ask_next();
               });
}

void Interview::end(SqlExpected<> outcome) {
  const auto over = std::exchange(over_, nullptr);
  over(std::move(outcome));
}

}  // namespace muster::postgres
