#include "apps/postgres/server/data_on_disk.hpp"

#include "apps/postgres/server/control_file.hpp"
#include "apps/postgres/server/wal.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>

namespace muster::postgres {
namespace {

namespace fs = std::filesystem;

Failure cannot_tell(const std::string& why) {
  return {ExitCode::storage_refused, "the files do not show the state of the data: " + why};
}

/// The files of the log in the order in which recovery reads them.
class FilesToRecover {
 public:
  FilesToRecover(fs::path pg_wal, ControlFile control)
      : pg_wal_(std::move(pg_wal)), control_(std::move(control)) {}

  /// Looks for the newest timeline, as PostgreSQL does with recovery_target_timeline = latest.
  Expected<> read_timelines() {
    std::uint32_t newest = std::max(control_.timeline, control_.consistent_on);
    auto history = read_text(pg_wal_ / history_file(newest));
    if (!history) return history.error();
    while (true) {
      const auto next = read_text(pg_wal_ / history_file(newest + 1));
      if (!next) return next.error();
      if (!*next) break;
      history = next;
      ++newest;
    }
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

  /// The timeline of the file that recovery reads next, the one with this number. None: it reads no
  /// further. Fails if such a file cannot be read: the log does not end there.
  Expected<std::optional<std::uint32_t>> next(std::uint64_t number) {
    for (auto each = begins_.rbegin(); each != begins_.rend(); ++each) {
      const auto& [timeline, begin] = *each;
      if (timeline < last_ || number < begin.value / control_.size_of_log_file) continue;
      const fs::path path = path_of(timeline, number);
      std::error_code error;
      if (!fs::exists(path, error) && !error) continue;
      const auto page = first_page_of(path);
      if (!page) return page.error();
      const bool is_of_this_log = *page && (*page)->system == control_.system &&
                                  (*page)->size == control_.size_of_log_file &&
                                  (*page)->begin.value == number * control_.size_of_log_file;
      if (!is_of_this_log) return std::optional<std::uint32_t>();
      last_ = timeline;
      return std::optional(timeline);
    }
    return std::optional<std::uint32_t>();
  }

  /// Reads a file. A standby that moves to a new timeline fetches the file in which that timeline
  /// begins again, from its first byte. Until that file is whole, the
  /// file of the timeline before has more.
  [[nodiscard]] Expected<std::string> read(std::uint32_t timeline, std::uint64_t number) const {
    auto text = read_text(path_of(timeline, number));
    if (!text) return text.error();
    if (!*text) return cannot_tell("a file of the log has just been removed");
    const auto here = begins_.find(timeline);
    const Lsn begin{number * control_.size_of_log_file};
    if (here == begins_.begin() || here->second <= begin ||
        here->second.value >= begin.value + control_.size_of_log_file)
      return **text;
    const auto before = read_text(path_of(std::prev(here)->first, number));
    if (!before) return before.error();
    if (*before && is_short(**text, **before, begin, here->second))
      return cannot_tell("PostgreSQL has fetched only a part of the file in which timeline " +
                         std::to_string(timeline) + " begins");
    return **text;
  }

  [[nodiscard]] bool have(std::uint32_t timeline) const { return begins_.contains(timeline); }

 private:
  [[nodiscard]] fs::path path_of(std::uint32_t timeline, std::uint64_t number) const {
    return pg_wal_ / name_of_file(timeline, number, control_.size_of_log_file);
  }

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
  std::map<std::uint64_t, std::uint32_t> found;  // the timeline of each file by its number
  for (std::uint64_t number = first;; ++number) {
    const auto timeline = files.next(number);
    if (!timeline) return timeline.error();
    if (!*timeline) break;
    found[number] = **timeline;
  }
  if (found.empty())
    return cannot_tell("the file of the log with the last checkpoint is missing or damaged");

  // If one record fills all of the last two files, more of them are read.
  const std::uint64_t last = found.rbegin()->first;
  GoodLog good;
  std::string bytes;
  for (std::uint64_t number = last + 1; number-- > first;) {
    const auto text = files.read(found.at(number), number);
    if (!text) return text.error();
    bytes = *text + bytes;
    const Lsn begin{number * size};
    good = good_log(bytes, begin, std::max(begin, control->redo));
    if (number < last && good.whole > good.rest) break;
  }
  const Lsn end = good.whole;
  if (end <= control->checkpoint) return cannot_tell("the log ends before the last checkpoint");
  const std::uint32_t timeline = found.at((end.value - 1) / size);
  if (control->consistent_at != Lsn{} && !files.have(control->consistent_on))
    return cannot_tell("its timelines do not contain timeline " +
                       std::to_string(control->consistent_on) + ", on which its files are");
  return DataOnDisk{control->system, end, timeline, what_is_missing(data, *control, end)};
}

}  // namespace muster::postgres
