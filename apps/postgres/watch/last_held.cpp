#include "apps/postgres/watch/last_held.hpp"

#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/rows.hpp"

#include <algorithm>

namespace muster::postgres {
namespace {

constexpr Duration interview_patience = std::chrono::seconds(5);

/// Size of a log page. The position of the next record is after the header of its page, and that
/// page may not have been written yet.
constexpr std::uint64_t page = 8192;

constexpr const char* look_at_it =
    "SELECT system_identifier,"
    " CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()"
    " ELSE pg_current_wal_insert_lsn() END,"
    " CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()"
    " ELSE pg_current_wal_flush_lsn() END FROM pg_control_system()";

}  // namespace

LastHeld::LastHeld(const Executor& executor, InstanceOptions options,
                   std::function<void(const std::string&)> tell)
    : executor_(executor), options_(std::move(options)), tell_(std::move(tell)), pause_(executor) {}

void LastHeld::begin() {
  last_seen_.reset();
  look();
}

void LastHeld::stop() {
  pause_.stop();
  interview_.reset();
}

void LastHeld::look() {
  interview_.emplace(executor_, session_parameters(options_, options_.node), interview_patience);
  interview_->add(look_at_it, {}, [this](const std::vector<Row>& rows) {
    if (!rows.empty()) see(rows.front());
  });
  interview_->begin([this](const auto&) {
    interview_.reset();
    pause_.wait(options_.remembers_every, [this] { look(); });
  });
}

// The flushed position may be inside a record, which a crash then discards. So this function
// records the position that it saw last time, once that position has been flushed. That position is
// the beginning of a record. The term is in the file: the node has recorded it before it counted.
void LastHeld::see(const Row& row) {
  const auto lsn = parse_lsn(text_in(row, 1));
  const auto flushed = parse_lsn(text_in(row, 2));
  const auto held = read_held(options_);
  if (!lsn || !flushed || !held || !*held || (*held)->system != number_in(row, 0)) return;
  if (last_seen_ && last_seen_->term == (*held)->term && last_seen_->lsn <= *flushed)
    remember(*last_seen_);
  last_seen_ = **held;
  last_seen_->lsn = *lsn;
}

void LastHeld::remember(const Held& held) {
  Held sure = held;
  sure.lsn.value -= std::min(sure.lsn.value, page);
  const auto written = write_held(options_, sure);
  if (!written && !std::exchange(told_, true)) tell_(written.error().what);
  if (written) told_ = false;
}

}  // namespace muster::postgres
