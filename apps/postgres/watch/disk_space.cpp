#include "apps/postgres/watch/disk_space.hpp"

#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/rows.hpp"

#include <sys/statvfs.h>

#include <cstdint>

namespace muster::postgres {
namespace {

constexpr Duration until_next_look = std::chrono::seconds(1);
constexpr Duration patience_with_primary = std::chrono::seconds(5);
/// A disk with less free space than this, in bytes, counts as full. An orderly shutdown still needs
/// space for some log records, and for a file of the log.
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

DiskSpace::DiskSpace(const Executor& executor, InstanceOptions options,
                     std::function<void(const std::string&)> tell,
                     std::function<void(NodeId)> hand_over)
    : executor_(executor),
      options_(std::move(options)),
      tell_(std::move(tell)),
      hand_over_(std::move(hand_over)),
      pause_(executor) {}

void DiskSpace::look_later() {
  pause_.wait(until_next_look, [this] { look(); });
}

void DiskSpace::look() {
  const auto full = full_disk(options_);
  if (full && full_.empty()) {
    full_ = full->string();
    tell_("the disk of " + full_ + " is full, with less than " + std::to_string(least_room >> 20) +
          " MB left: PostgreSQL cannot write there, and is not started again, until you free some "
          "space");
  } else if (!full && !full_.empty()) {
    tell_("the disk of " + full_ + " has room again");
    full_.clear();
    handed_over_ = false;
  }
  if (full && primary_ && !handed_over_) return find_heir();
  look_later();
}

// Chooses the standby with the most log, which will soon have all log. If the disk of that standby
// is full as well, that node hands over in turn. If all disks are full, the last node that got the
// role keeps it.
void DiskSpace::find_heir() {
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

void DiskSpace::take_heir(const std::vector<Row>& following) {
  for (const Row& row : following)
    for (const auto& [node, address] : options_.nodes)
      if (!heir_ && text_in(row, 0) == name_of(node)) heir_ = node;
}

}  // namespace muster::postgres
