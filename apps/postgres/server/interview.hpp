#pragma once

#include "apps/postgres/server/session.hpp"

#include <deque>

namespace muster::postgres {

/// Asks one server several questions, over a session of its own. Destroying this object cancels the
/// callbacks.
class Interview {
 public:
  using Take = std::function<void(const std::vector<Row>&)>;

  /// Each answer has to come within `bound`.
  Interview(const Executor& executor, Session::Parameters parameters, Duration bound)
      : session_(executor, std::move(parameters)), bound_(bound) {}

  /// Adds a question. May also be called from the callback of an earlier answer.
  void add(std::string statement, std::vector<std::string> parameters, Take take);

  /// `over` is called once, after the last answer or at the first error. The callback may destroy
  /// this object.
  void begin(std::function<void(SqlExpected<>)> over);

 private:
  struct Question {
    std::string statement;
    std::vector<std::string> parameters;
    Take take;
  };
  void ask_next();
  void end(SqlExpected<> outcome);

  Session session_;
  Duration bound_;
  std::deque<Question> questions_;
  std::function<void(SqlExpected<>)> over_;
};

}  // namespace muster::postgres
