#include "apps/postgres/watch/memory.hpp"

#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/rows.hpp"

#include <algorithm>

namespace muster::postgres {
namespace {

constexpr Duration patience = std::chrono::seconds(5);

/// Where the next record is written may be behind the header of a page that is not there yet.
constexpr std::uint64_t page = 8192;

const std::string look_at_it = std::string("SELECT ") + columns_of_terms +
                               ", (SELECT system_identifier FROM pg_control_system()),"
                               " CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()"
                               " ELSE pg_current_wal_insert_lsn() END,"
                               " CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()"
                               " ELSE pg_current_wal_flush_lsn() END, " +
                               copies_of_term +
                               " FROM muster.term ORDER BY counter DESC, coordinator DESC LIMIT 1";

}  // namespace

Memory::Memory(const Executor& executor, InstanceOptions options,
               std::function<void(const std::string&)> tell)
    : executor_(executor), options_(std::move(options)), tell_(std::move(tell)), pause_(executor) {}

void Memory::begin() {
  last_seen_.reset();
  look();
}

void Memory::stop() {
  pause_.stop();
  interview_.reset();
}

void Memory::look() {
  interview_.emplace(executor_, session_parameters(options_, options_.node), patience);
  interview_->add(look_at_it, {}, [this](const std::vector<Row>& rows) {
    if (!rows.empty()) see(rows.front());
  });
  interview_->begin([this](const auto&) {
    interview_.reset();
    pause_.wait(options_.remembers_every, [this] { look(); });
  });
}

// What is flushed may end within a record, which a crash takes back: so what is remembered is where
// a record began when it was looked at before, and is flushed by now.
void Memory::see(const Row& row) {
  const auto lsn = parse_lsn(text_in(row, 6));
  const auto flushed = parse_lsn(text_in(row, 7));
  const auto copies = copies_in(row, 8);
  if (!lsn || !flushed || !copies) return;
  if (last_seen_ && last_seen_->lsn <= *flushed) remember(*last_seen_);
  last_seen_ = Held{number_in(row, 5), term_in(row), *lsn, *copies};
}

void Memory::remember(const Held& held) {
  Held sure = held;
  sure.lsn.value -= std::min(sure.lsn.value, page);
  const auto written = write_held(options_, sure);
  if (!written && !std::exchange(told_, true)) tell_(written.error().what);
  if (written) told_ = false;
}

}  // namespace muster::postgres
