#include "apps/postgres/room.hpp"

#include "apps/postgres/conf.hpp"
#include "apps/postgres/errand.hpp"

#include <sys/statvfs.h>

#include <algorithm>
#include <cstdint>

namespace muster::postgres {
namespace {

constexpr Duration until_next_look = std::chrono::seconds(1);
constexpr Duration patience_with_primary = std::chrono::seconds(5);
/// What a shutdown in order still needs, and some seconds of a log.
constexpr std::uint64_t least_room = 16 << 20;

/// Of the data and of the log, which may have a disk of its own: the first that is full.
std::optional<std::filesystem::path> full_disk(const InstanceOptions& options) {
  for (const auto& path : {options.data, options.data / "pg_wal"}) {
    struct statvfs disk {};
    if (::statvfs(path.c_str(), &disk) == 0 && disk.f_bavail * disk.f_frsize < least_room)
      return path;
  }
  return std::nullopt;
}

}  // namespace

Room::Room(const Executor& executor, InstanceOptions options,
           std::function<void(const std::string&)> tell, std::function<void(NodeId)> hand_over)
    : executor_(executor),
      options_(std::move(options)),
      tell_(std::move(tell)),
      hand_over_(std::move(hand_over)),
      pause_(executor) {}

void Room::begin(bool primary) {
  primary_ = primary;
  look_later();
}

void Room::stop() {
  pause_.stop();
  interview_.reset();
}

void Room::look_later() {
  pause_.wait(until_next_look, [this] { look(); });
}

void Room::look() {
  const auto full = full_disk(options_);
  const std::string now = full ? full->string() : "";
  if (now != full_ && full)
    tell_("the disk of " + now + " is full: less than " + std::to_string(least_room >> 20) +
          " MB are left, and PostgreSQL cannot write when they are gone; make room there");
  if (now != full_ && !full) {
    tell_("the disk of " + full_ + " has room again");
    handed_over_ = false;
  }
  full_ = now;
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
      {}, [this](const std::vector<Row>& rows) {
        for (const Row& row : rows)
          for (const auto& [node, address] : options_.nodes)
            if (!heir_ && text_in(row, 0) == name_of(node)) heir_ = node;
      });
  interview_->begin([this](const auto&) {
    interview_.reset();
    look_later();
    if (!heir_) return;
    handed_over_ = true;
    hand_over_(*heir_);
  });
}

}  // namespace muster::postgres
