#pragma once

#include "apps/postgres/server/session.hpp"

#include <deque>

namespace muster::postgres {

/// Questions to one server, over a session of their own. Dropped, nothing is heard of it.
class Interview {
 public:
  using Take = std::function<void(const std::vector<Row>&)>;

  /// Each answer has to come within the bound.
  Interview(const Executor& executor, Session::Parameters parameters, Duration bound)
      : session_(executor, std::move(parameters)), bound_(bound) {}

  /// One more question, which whoever takes an answer may have, too.
  void add(std::string statement, std::vector<std::string> parameters, Take take);

  /// `over` is called once: after the last answer, or at the first that is none. It may drop this.
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
