#include "apps/postgres/perform/acknowledger.hpp"

#include "apps/postgres/server/rows.hpp"

#include <boost/endian/conversion.hpp>

#include <array>
#include <chrono>
#include <string_view>

namespace muster::postgres {
namespace {

using namespace std::chrono_literals;

constexpr Duration patience_with_walsender = 2s;
constexpr Duration between_connections = 100ms;
constexpr Duration between_updates = 20ms;

// The messages of PostgreSQL's streaming replication protocol, whose numbers are big-endian.
constexpr char log_data = 'w';  ///< its begin, the server's end, a time, and then the log
constexpr char keep_alive = 'k';
constexpr char status_update = 'r';
constexpr std::size_t before_log = 1 + 3 * sizeof(std::uint64_t);

std::string as_bytes(std::uint64_t number) {
  std::array<unsigned char, sizeof number> bytes{};
  boost::endian::store_big_u64(bytes.data(), number);
  return {bytes.begin(), bytes.end()};
}

std::uint64_t big_number_at(std::string_view message, std::size_t at) {
  std::array<unsigned char, sizeof(std::uint64_t)> bytes{};
  std::copy_n(message.begin() + static_cast<std::ptrdiff_t>(at), bytes.size(), bytes.begin());
  return boost::endian::load_big_u64(bytes.data());
}

}  // namespace

Acknowledger::Acknowledger(const Executor& executor, const InstanceOptions& options)
    : executor_(executor),
      parameters_(parameters_of_a_standby(options, name_of_acknowledger)),
      pause_(executor) {}

void Acknowledger::begin(std::function<void()> begun, std::function<void(const SqlError&)> failed) {
  begun_ = std::move(begun);
  failed_ = std::move(failed);
  start();
}

void Acknowledger::try_again(const SqlError& error) {
  pause_.wait(between_connections, [this] { start(); });
  if (begun_) failed_(error);
}

void Acknowledger::start() {
  session_.emplace(executor_, parameters_);
  session_->connect(patience_with_walsender, [this](const SqlExpected<>& connected) {
    if (!connected) return try_again(connected.error());
    session_->ask("IDENTIFY_SYSTEM", {}, patience_with_walsender,
                  [this](const SqlExpected<Answer>& answer) {
                    if (!answer) return try_again(answer.error());
                    start_at(text_in(answer->rows.at(0), 2), text_in(answer->rows.at(0), 1));
                  });
  });
}

void Acknowledger::start_at(const std::string& lsn, const std::string& timeline) {
  position_ = parse_lsn(lsn).value_or(Lsn{}).value;
  session_->ask("START_REPLICATION PHYSICAL " + lsn + " TIMELINE " + timeline, {},
                patience_with_walsender, [this](const SqlExpected<Answer>& answer) {
                  if (!answer) return try_again(answer.error());
                  session_->stream([this](const SqlExpected<std::string>& message) {
                    if (message) return take(*message);
                    try_again(message.error());
                  });
                  repeat();
                  if (const auto begun = std::exchange(begun_, nullptr)) begun();
                });
}

void Acknowledger::take(const std::string& message) {
  if (message.size() > before_log && message[0] == log_data)
    position_ = big_number_at(message, 1) + message.size() - before_log;
  else if (message.empty() || message[0] != keep_alive)
    return;
  acknowledge();
}

// The walsender does not count a standby before it has sent it all of its log, and it looks at the
// standby again only when an update comes. If all sessions wait, there is no new log by which an
// update would be sent.
void Acknowledger::repeat() {
  acknowledge();
  pause_.wait(between_updates, [this] { repeat(); });
}

// PostgreSQL uses the position that is flushed. The others, and the time, are for displays.
void Acknowledger::acknowledge() {
  const std::string position = as_bytes(position_);
  const std::string time = as_bytes(0), wants_no_answer(1, '\0');
  session_->send(status_update + position + position + position + time + wants_no_answer);
}

}  // namespace muster::postgres
