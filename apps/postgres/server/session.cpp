#include "apps/postgres/server/session.hpp"

#include "apps/base/text.hpp"

#include <boost/asio/post.hpp>

#include <libpq-fe.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace muster::postgres {
namespace {

using Watched = boost::asio::posix::stream_descriptor;

constexpr const char* last_resort = "template1";  // each server has this database

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

SqlError error_of(const PGresult* result) {
  const auto field = [result](int code) {
    const char* const text = PQresultErrorField(result, code);
    return std::string(text == nullptr ? "" : text);
  };
  SqlError error{field(PG_DIAG_SQLSTATE), field(PG_DIAG_MESSAGE_PRIMARY)};
  if (const auto detail = field(PG_DIAG_MESSAGE_DETAIL); !detail.empty())
    error.what += ": " + detail;
  // Errors of libpq itself have no fields.
  if (error.what.empty()) error.what = first_line(PQresultErrorMessage(result));
  return error;
}

std::vector<Row> rows_of(const PGresult* result) {
  std::vector<Row> rows(static_cast<std::size_t>(PQntuples(result)));
  for (int y = 0; y < PQntuples(result); ++y) {
    Row& row = rows[static_cast<std::size_t>(y)];
    row.resize(static_cast<std::size_t>(PQnfields(result)));
    for (int x = 0; x < PQnfields(result); ++x) {
      if (PQgetisnull(result, y, x) != 0) continue;
      row[static_cast<std::size_t>(x)].emplace(PQgetvalue(result, y, x),
                                               static_cast<std::size_t>(PQgetlength(result, y, x)));
    }
  }
  return rows;
}

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, Clear>;

}  // namespace

void throw_exception_from_error(const SqlError& error, const boost::source_location&) {
  throw std::runtime_error(error.what + " (" + error.state + ")");
}

// Asio watches a duplicate of the socket, since libpq closes and opens the original socket at any
// time.
class Session::Connection : public std::enable_shared_from_this<Session::Connection> {
 public:
  Connection(const Executor& executor, Parameters parameters)
      : parameters_(std::move(parameters)), socket_(executor), late_(executor) {}
  ~Connection() { PQfinish(libpq_); }

  void connect(Duration bound, Connected then);
  void ask(const std::string& statement, const std::vector<std::string>& parameters,
           std::optional<Duration> bound, Answered then);
  void hear(Notified then);
  void stream(Streamed then);
  void send(const std::string& message);
  [[nodiscard]] bool idle() const {
    return libpq_ != nullptr && PQstatus(libpq_) == CONNECTION_OK && !waiting();
  }

  /// Cancels all callbacks.
  void drop() {
    connected_ = nullptr;
    answered_ = nullptr;
    notified_ = nullptr;
    streamed_ = nullptr;
    late_.stop();
    close();
  }

 private:
  using Step = void (Connection::*)();

  void begin_to_connect();
  void advance();
  [[nodiscard]] bool is_refused_by_database() const;
  void connect_to_template();
  void take_in();
  void take_notifications();
  void take_stream();
  bool send_statement(const std::string& statement, const std::vector<std::string>& parameters);
  bool flush();
  void wait(Watched::wait_type what, Step then);
  void limit(std::optional<Duration> bound);
  void end(SqlError error);
  void end_answer();
  void close();
  [[nodiscard]] std::string said() const {
    return libpq_ == nullptr ? "there is no connection" : first_line(PQerrorMessage(libpq_));
  }
  [[nodiscard]] bool waiting() const { return connected_ || answered_ || notified_ || streamed_; }

  Parameters parameters_;
  PGconn* libpq_ = nullptr;
  Watched socket_;
  Pause late_;
  Connected connected_;
  Answered answered_;
  Notified notified_;
  Streamed streamed_;
  Answer answer_;
  std::optional<SqlError> error_;
};

void Session::Connection::connect(Duration bound, Connected then) {
  connected_ = std::move(then);
  limit(bound);
  begin_to_connect();
}

void Session::Connection::begin_to_connect() {
  std::vector<const char*> names;
  std::vector<const char*> values;
  for (const auto& [name, value] : parameters_) {
    names.push_back(name.c_str());
    values.push_back(value.c_str());
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  libpq_ = PQconnectStartParams(names.data(), values.data(), 0);
  const auto keep = [](void* self, const PGresult* result) {
    static_cast<Connection*>(self)->answer_.notices.push_back(error_of(result));
  };
  if (libpq_ != nullptr) PQsetNoticeReceiver(libpq_, keep, this);
  if (libpq_ == nullptr || PQstatus(libpq_) == CONNECTION_BAD) {
    return boost::asio::post(socket_.get_executor(), [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self && self->waiting()) self->end({"", self->said()});
    });
  }
  wait(Watched::wait_write, &Connection::advance);
}

void Session::Connection::advance() {
  switch (PQconnectPoll(libpq_)) {
    case PGRES_POLLING_READING:
      return wait(Watched::wait_read, &Connection::advance);
    case PGRES_POLLING_WRITING:
      return wait(Watched::wait_write, &Connection::advance);
    case PGRES_POLLING_OK:
      break;
    default:
      if (is_refused_by_database()) return connect_to_template();
      return end({"", said()});
  }
  PQsetnonblocking(libpq_, 1);
  late_.stop();
  std::exchange(connected_, nullptr)(SqlExpected<>());
}

// libpq does not tell the SQLSTATE of a refused connection.
bool Session::Connection::is_refused_by_database() const {
  const std::string why = said();
  const bool is_of_database =
      why.find("is not currently accepting connections") != why.npos ||
      why.find("too many connections for database") != why.npos ||
      (why.find("database \"") != why.npos && why.ends_with("does not exist"));
  return is_of_database && PQdb(libpq_) != std::string(last_resort);
}

void Session::Connection::connect_to_template() {
  for (auto& [name, value] : parameters_)
    if (name == "dbname") value = last_resort;
  close();
  PQfinish(libpq_);
  begin_to_connect();
}

void Session::Connection::ask(const std::string& statement,
                              const std::vector<std::string>& parameters,
                              std::optional<Duration> bound, Answered then) {
  answered_ = std::move(then);
  answer_ = {};
  error_.reset();
  limit(bound);
  const bool sent = send_statement(statement, parameters);
  // Callbacks are never called from inside this call.
  boost::asio::post(socket_.get_executor(), [weak = weak_from_this(), sent] {
    const auto self = weak.lock();
    if (!self || !self->waiting()) return;
    if (!sent) return self->end({"", self->said()});
    self->take_in();
  });
}

// A walsender takes only the simple protocol, which has no parameters.
bool Session::Connection::send_statement(const std::string& statement,
                                         const std::vector<std::string>& parameters) {
  const auto is_replication = [](const auto& each) { return each.first == "replication"; };
  if (std::any_of(parameters_.begin(), parameters_.end(), is_replication))
    return PQsendQuery(libpq_, statement.c_str()) != 0;
  std::vector<const char*> values;
  for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
  return PQsendQueryParams(libpq_, statement.c_str(), static_cast<int>(values.size()), nullptr,
                           values.data(), nullptr, nullptr, 0) != 0;
}

// Reads all that has arrived, and sends the rest of the buffer.
void Session::Connection::take_in() {
  if (!flush()) return;
  if (PQconsumeInput(libpq_) == 0) return end({"", said()});
  while (PQisBusy(libpq_) == 0) {
    const Result result(PQgetResult(libpq_));
    if (!result) return end_answer();
    const ExecStatusType status = PQresultStatus(result.get());
    if (status == PGRES_COPY_BOTH) return end_answer();
    if (status == PGRES_TUPLES_OK) answer_.rows = rows_of(result.get());
    if (status == PGRES_FATAL_ERROR && !error_) error_ = error_of(result.get());
  }
  wait(Watched::wait_read, &Connection::take_in);
}

void Session::Connection::hear(Notified then) {
  notified_ = std::move(then);
  boost::asio::post(socket_.get_executor(), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && self->waiting()) self->take_notifications();
  });
}

void Session::Connection::take_notifications() {
  if (PQconsumeInput(libpq_) == 0) return end({"", said()});
  while (notified_) {
    const std::unique_ptr<PGnotify, decltype(&PQfreemem)> notification(PQnotifies(libpq_),
                                                                       PQfreemem);
    if (!notification) return wait(Watched::wait_read, &Connection::take_notifications);
    const Notified heard = notified_;
    heard(Notification{notification->be_pid, notification->extra});
  }
}

void Session::Connection::stream(Streamed then) {
  streamed_ = std::move(then);
  boost::asio::post(socket_.get_executor(), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && self->waiting()) self->take_stream();
  });
}

void Session::Connection::take_stream() {
  if (PQconsumeInput(libpq_) == 0) return end({"", said()});
  while (streamed_) {
    char* text = nullptr;
    const int size = PQgetCopyData(libpq_, &text, 1);
    if (size == 0) return wait(Watched::wait_read, &Connection::take_stream);
    if (size < 0) return end({"", "the server has ended the stream"});
    const std::unique_ptr<char, decltype(&PQfreemem)> kept(text, PQfreemem);
    const Streamed streamed = streamed_;
    streamed({boost::system::in_place_value, text, static_cast<std::size_t>(size)});
  }
}

// Messages are small and the server always reads them, so a full buffer of the socket means that
// the connection is broken.
void Session::Connection::send(const std::string& message) {
  PQputCopyData(libpq_, message.data(), static_cast<int>(message.size()));
  PQflush(libpq_);
}

bool Session::Connection::flush() {
  const int rest = PQflush(libpq_);
  if (rest < 0) end({"", said()});
  if (rest > 0) wait(Watched::wait_write, &Connection::take_in);
  return rest == 0;
}

void Session::Connection::wait(Watched::wait_type what, Step then) {
  // While libpq connects, it can close its socket and open another with the same descriptor number.
  if (connected_ || !socket_.is_open()) {
    close();
    const int fd = fcntl(PQsocket(libpq_), F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return end({"", "no file descriptor is left for a connection"});
    socket_.assign(fd);
  }
  socket_.async_wait(what, [weak = weak_from_this(), then](auto error) {
    const auto self = weak.lock();
    if (!error && self && self->waiting()) ((*self).*then)();
  });
}

void Session::Connection::limit(std::optional<Duration> bound) {
  late_.stop();
  if (!bound) return;
  late_.wait(*bound, [weak = weak_from_this(), bound] {
    const auto self = weak.lock();
    if (self && self->waiting())
      self->end({"", "no answer within " + apps::format_ms(*bound) + " ms"});
  });
}

void Session::Connection::end(SqlError error) {
  late_.stop();
  close();
  PQfinish(std::exchange(libpq_, nullptr));
  if (connected_) return std::exchange(connected_, nullptr)(std::move(error));
  if (answered_) return std::exchange(answered_, nullptr)(std::move(error));
  if (notified_) return std::exchange(notified_, nullptr)(std::move(error));
  if (streamed_) std::exchange(streamed_, nullptr)(std::move(error));
}

void Session::Connection::end_answer() {
  late_.stop();
  const auto answered = std::exchange(answered_, nullptr);
  if (error_) return answered(std::move(*error_));
  answered(std::move(answer_));
}

void Session::Connection::close() {
  boost::system::error_code ignored;
  if (socket_.is_open()) socket_.close(ignored);
}

Session::Session(const Executor& executor, Parameters parameters)
    : connection_(std::make_shared<Connection>(executor, std::move(parameters))) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&& other) noexcept {
  std::swap(connection_, other.connection_);
  return *this;
}
Session::~Session() {
  if (connection_) connection_->drop();
}

void Session::connect(Duration bound, Connected then) {
  connection_->connect(bound, std::move(then));
}

void Session::ask(const std::string& statement, const std::vector<std::string>& parameters,
                  std::optional<Duration> bound, Answered then) {
  connection_->ask(statement, parameters, bound, std::move(then));
}

void Session::hear(Notified then) {
  connection_->hear(std::move(then));
}

void Session::stream(Streamed then) {
  connection_->stream(std::move(then));
}

void Session::send(const std::string& message) {
  connection_->send(message);
}

bool Session::idle() const {
  return connection_ && connection_->idle();
}

}  // namespace muster::postgres
