#pragma once

#include "apps/postgres/server/waits.hpp"

#include <boost/system/result.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A connection to a PostgreSQL that keeps no thread waiting.

namespace muster::postgres {

/// What a server says of a statement, or libpq of a connection.
struct SqlError {
  std::string state;  ///< SQLSTATE, five characters; empty: there is no server, or it was too late
  std::string what;   ///< a sentence
};

template <class T = void>
using SqlExpected = boost::system::result<T, SqlError>;

/// Lets `result.value()` throw where an error was not looked at.
[[noreturn]] void throw_exception_from_error(const SqlError& error, const boost::source_location&);

/// Columns as text; none: NULL.
using Row = std::vector<std::optional<std::string>>;

struct Answer {
  std::vector<Row> rows;
  std::vector<SqlError> notices;  ///< and warnings
};

/// What came by NOTIFY to who listens.
struct Notification {
  int process{};  ///< the server's that serves who has said it, as in pg_stat_activity
  std::string text;
};

/// Nothing is heard of it once it is dropped, whatever was going on; the server ends what it did
/// when it notices.
class Session {
 public:
  /// As libpq has them: "host", "port", "user", "dbname", ...
  using Parameters = std::vector<std::pair<std::string, std::string>>;
  using Connected = std::function<void(SqlExpected<>)>;
  using Answered = std::function<void(SqlExpected<Answer>)>;
  using Notified = std::function<void(SqlExpected<Notification>)>;

  Session(const Executor& executor, Parameters parameters);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// Once, before all else. Not later than the bound. A host that is a name is looked up before
  /// this returns.
  void connect(Duration bound, Connected then);

  /// One statement, and its parameters $1, $2, ... as text; the next when this one is answered.
  /// Without a bound it may take for ever. After an error without a state the session is of no use.
  void ask(const std::string& statement, const std::vector<std::string>& parameters,
           std::optional<Duration> bound, Answered then);

  /// Each notification from now on, of what LISTEN was asked for; then the error that ends it.
  /// Nothing is asked any more.
  void hear(Notified then);

  /// Connected, and nothing is going on.
  [[nodiscard]] bool idle() const;

 private:
  class Connection;
  std::shared_ptr<Connection> connection_;
};

}  // namespace muster::postgres
