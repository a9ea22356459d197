#pragma once

#include "apps/postgres/server/waits.hpp"

#include <boost/system/result.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A connection to PostgreSQL whose calls block no thread.

namespace muster::postgres {

/// An error of a server about a statement, or of libpq about a connection.
struct SqlError {
  /// SQLSTATE, five characters; empty: no server answered in time.
  std::string state;
  std::string what;  ///< a sentence
};

template <class T = void>
using SqlExpected = boost::system::result<T, SqlError>;

/// Makes `result.value()` throw if the error was not examined.
[[noreturn]] void throw_exception_from_error(const SqlError& error, const boost::source_location&);

/// Columns as text. None: NULL.
using Row = std::vector<std::optional<std::string>>;

struct Answer {
  std::vector<Row> rows;
  std::vector<SqlError> notices;  ///< the server's notices and warnings
};

/// A message of NOTIFY to a session that listens.
struct Notification {
  int process{};  ///< process id of the sender's server process, as in pg_stat_activity
  std::string text;
};

/// A session. Destroying the session cancels all callbacks. The server abandons the present
/// statement when it notices that the connection is closed.
class Session {
 public:
  /// Parameters as libpq names them: "host", "port", "user", "dbname", ...
  using Parameters = std::vector<std::pair<std::string, std::string>>;
  using Connected = std::function<void(SqlExpected<>)>;
  using Answered = std::function<void(SqlExpected<Answer>)>;
  using Notified = std::function<void(SqlExpected<Notification>)>;
  using Streamed = std::function<void(SqlExpected<std::string>)>;

  Session(const Executor& executor, Parameters parameters);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// Connects, and fails if that takes longer than `bound`. Call this once, before all other calls.
  /// If the database does not exist, or admits no session, connects to template1 instead.
  /// If the host is a name, this call blocks until the name has been looked up.
  void connect(Duration bound, Connected then);

  /// Sends one statement, with its parameters $1, $2, ... as text. Send the next statement only
  /// after the answer. Without a bound the answer may never come. After an error without a `state`
  /// the session cannot be used any more.
  void ask(const std::string& statement, const std::vector<std::string>& parameters,
           std::optional<Duration> bound, Answered then);

  /// Calls `then` with each notification of the channels that LISTEN named, and finally with the
  /// error that ends the session. Send no statement after this call.
  void hear(Notified then);

  /// After START_REPLICATION, in a session with the parameter "replication": calls `then` with each
  /// message of the server, and finally with the error that ends the session.
  void stream(Streamed then);
  /// Sends the server a message between those that it streams. An error ends the session later.
  void send(const std::string& message);

  /// True if the session is connected and no statement is in progress.
  [[nodiscard]] bool idle() const;

 private:
  class Connection;
  std::shared_ptr<Connection> connection_;
};

}  // namespace muster::postgres
