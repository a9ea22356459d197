#include "apps/postgres/watch/room.hpp"

#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/rows.hpp"

#include <sys/statvfs.h>

#include <cstdint>

namespace muster::postgres {
namespace {

constexpr Duration until_next_look = std::chrono::seconds(1);
constexpr Duration patience_with_primary = std::chrono::seconds(5);
/// What a shutdown in order still needs: some records of the log, and a file for them.
constexpr std::uint64_t least_room = 4 << 20;

}  // namespace

std::optional<std::filesystem::path> full_disk(const InstanceOptions& options) {
  for (const auto& path : {options.data.parent_path(), options.data, options.data / "pg_wal"}) {
    struct statvfs disk {};
    if (::statvfs(path.c_str(), &disk) == 0 && disk.f_bavail * disk.f_frsize < least_room)
      return path;
  }
  return std::nullopt;
}

Room::Room(const Executor& executor, InstanceOptions options,
           std::function<void(const std::string&)> tell, std::function<void(NodeId)> hand_over)
    : executor_(executor),
      options_(std::move(options)),
      tell_(std::move(tell)),
      hand_over_(std::move(hand_over)),
      pause_(executor) {}

void Room::look_later() {
  pause_.wait(until_next_look, [this] { look(); });
}

void Room::look() {
  const auto full = full_disk(options_);
  if (full && full_.empty()) {
    full_ = full->string();
    tell_("the disk of " + full_ + " is full, with less than " + std::to_string(least_room >> 20) +
          " MB left: PostgreSQL cannot write there, and is not begun anew, until there is room");
  } else if (!full && !full_.empty()) {
    tell_("the disk of " + full_ + " has room again");
    full_.clear();
    handed_over_ = false;
  }
  if (full && primary_ && !handed_over_) return find_heir();
  look_later();
}

// Who has most of the log will soon have all of it. Where its own disk is full it hands over in
// turn; where all are, this ends with the last of them.
void Room::find_heir() {
  heir_.reset();
  interview_.emplace(executor_, session_parameters(options_, options_.node), patience_with_primary);
  interview_->add(
      "SELECT application_name FROM pg_stat_replication WHERE state = 'streaming'"
      " ORDER BY flush_lsn DESC NULLS LAST",
      {}, [this](const std::vector<Row>& rows) { take_heir(rows); });
  interview_->begin([this](const auto&) {
    interview_.reset();
    look_later();
    if (!heir_ || !primary_) return;
    handed_over_ = true;
    hand_over_(*heir_);
  });
}

void Room::take_heir(const std::vector<Row>& following) {
  for (const Row& row : following)
    for (const auto& [node, address] : options_.nodes)
      if (!heir_ && text_in(row, 0) == name_of(node)) heir_ = node;
}

}  // namespace muster::postgres
