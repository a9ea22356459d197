#include "apps/postgres/server/data_on_disk.hpp"

#include "apps/postgres/server/control_file.hpp"
#include "apps/postgres/server/wal.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <system_error>

namespace muster::postgres {
namespace {

namespace fs = std::filesystem;

Failure cannot_tell(const std::string& why) {
  return {ExitCode::storage_refused, "the files do not show what this node has: " + why};
}

/// The files of the log in the order in which recovery reads them.
class FilesToRecover {
 public:
  FilesToRecover(fs::path pg_wal, ControlFile control)
      : pg_wal_(std::move(pg_wal)), control_(std::move(control)) {}

  /// Looks for the newest timeline, as PostgreSQL does with recovery_target_timeline = latest.
  Expected<> read_timelines() {
    std::uint32_t newest = std::max(control_.timeline, control_.consistent_on);
    std::error_code error;
    while (fs::exists(pg_wal_ / history_file(newest + 1), error)) ++newest;
    const auto history = read_text(pg_wal_ / history_file(newest));
    if (!history) return history.error();
    Lsn begin;
    for (const auto& [timeline, end] : ends_in(history->value_or(""))) {
      begins_[timeline] = begin;
      begin = end;
      if (timeline == control_.timeline && end < control_.checkpoint)
        return cannot_tell("timeline " + std::to_string(newest) +
                           " began before the last checkpoint, so it is of another log");
    }
    begins_[newest] = begin;
    if (begins_.contains(control_.timeline)) return {};
    return cannot_tell("timeline " + std::to_string(newest) + " did not come from timeline " +
                       std::to_string(control_.timeline) + " of the last checkpoint");
  }

  /// The file that recovery reads next, the one with this number. None: it reads no further.
  std::optional<std::uint32_t> next(std::uint64_t number) {
    std::error_code error;
    for (auto each = begins_.rbegin(); each != begins_.rend(); ++each) {
      const auto& [timeline, begin] = *each;
      if (timeline < last_ || number < begin.value / control_.size_of_log_file) continue;
      const fs::path path = path_of(timeline, number);
      if (!fs::exists(path, error)) continue;
      const auto page = first_page_of(path);
      const bool is_of_this_log = page && page->system == control_.system &&
                                  page->size == control_.size_of_log_file &&
                                  page->begin.value == number * control_.size_of_log_file;
      if (!is_of_this_log) return std::nullopt;
      last_ = timeline;
      return timeline;
    }
    return std::nullopt;
  }

  [[nodiscard]] fs::path path_of(std::uint32_t timeline, std::uint64_t number) const {
    return pg_wal_ / name_of_file(timeline, number, control_.size_of_log_file);
  }
  [[nodiscard]] bool have(std::uint32_t timeline) const { return begins_.contains(timeline); }

 private:
  const fs::path pg_wal_;
  const ControlFile control_;
  std::map<std::uint32_t, Lsn> begins_;  ///< where each timeline begins
  std::uint32_t last_ = 0;               ///< the timeline of the last file
};

std::string what_is_missing(const fs::path& data, const ControlFile& control, Lsn end) {
  std::error_code error;
  if (fs::exists(data / "backup_label", error) || control.is_backup)
    return "it is a copy of another database, and the log does not reach the end of the copying";
  if (end < control.consistent_at)
    return "its log ends at " + to_text(end) + ", but its files are as of " +
           to_text(control.consistent_at);
  return {};
}

}  // namespace

Expected<DataOnDisk> read_data_on_disk(const fs::path& data) {
  const auto control = read_control_file(data);
  if (!control) return control.error();
  const std::uint64_t size = control->size_of_log_file;
  if (size == 0) return cannot_tell("the control file names no size of the files of the log");
  FilesToRecover files(data / "pg_wal", *control);
  if (const auto read = files.read_timelines(); !read) return read.error();

  const std::uint64_t first = control->redo.value / size;
  std::uint64_t number = first;
  std::map<std::uint64_t, std::uint32_t> last_two;
  for (auto timeline = files.next(number); timeline; timeline = files.next(++number)) {
    last_two[number] = *timeline;
    if (last_two.size() > 2) last_two.erase(last_two.begin());
  }
  if (last_two.empty())
    return cannot_tell("the file of the log with the last checkpoint is missing or damaged");

  std::string bytes;
  for (const auto& [each, timeline] : last_two) {
    const auto text = read_text(files.path_of(timeline, each));
    if (!text) return text.error();
    if (!*text) return cannot_tell("a file of the log has just been removed");
    bytes += **text;
  }
  const Lsn begin{last_two.begin()->first * size};
  const Lsn end = good_log(bytes, begin, std::max(begin, control->redo)).whole;
  if (end <= control->checkpoint) return cannot_tell("the log ends before the last checkpoint");
  if (control->consistent_at != Lsn{} && !files.have(control->consistent_on))
    return cannot_tell("its timelines do not contain timeline " +
                       std::to_string(control->consistent_on) + ", on which its files are");
  const std::uint32_t timeline = last_two.at(std::min((end.value - 1) / size, number - 1));
  return DataOnDisk{control->system, end, timeline, what_is_missing(data, *control, end)};
}

}  // namespace muster::postgres
