#include "apps/postgres/server/wal.hpp"

#include <algorithm>
#include <charconv>
#include <iomanip>
#include <limits>
#include <sstream>
#include <system_error>

namespace muster::postgres {
namespace {

namespace fs = std::filesystem;

/// The name of a file of the log: its timeline and its number, in hexadecimal digits.
struct WalFile {
  std::uint32_t timeline{};
  std::uint32_t log{}, segment{};
};

std::optional<std::uint32_t> hexadecimal(std::string_view digits) {
  std::uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

std::optional<WalFile> wal_file(std::string_view name) {
  if (name.size() != 24) return std::nullopt;
  const auto timeline = hexadecimal(name.substr(0, 8)), log = hexadecimal(name.substr(8, 8)),
             segment = hexadecimal(name.substr(16, 8));
  if (!timeline || !log || !segment) return std::nullopt;
  return WalFile{*timeline, *log, *segment};
}

std::string digits_of(std::uint32_t number) {
  std::ostringstream digits;
  digits << std::hex << std::uppercase << std::setw(8) << std::setfill('0') << number;
  return digits.str();
}

/// The size of all files of a log. None: there is no such file.
std::optional<std::uint64_t> size_of_files(const fs::path& pg_wal) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(pg_wal, error))
    if (wal_file(entry.path().filename().string()))
      if (const auto page = first_page_of(entry.path()); page && *page) return (*page)->size;
  return std::nullopt;
}

/// The files of a log, which is flushed up to a position.
class LogFiles {
 public:
  /// None: there is no file of a log.
  static Expected<std::optional<LogFiles>> open(const fs::path& pg_wal, std::uint32_t timeline,
                                                Lsn end) {
    const auto size = size_of_files(pg_wal);
    if (!size) return std::optional<LogFiles>();
    const auto history = read_text(pg_wal / history_file(timeline));
    if (!history) return history.error();
    LogFiles files;
    files.pg_wal_ = pg_wal;
    files.size_ = *size;
    files.end_ = end;
    files.ends_ = ends_in(history->value_or(""));
    files.ends_[timeline] = Lsn{std::numeric_limits<std::uint64_t>::max()};
    return std::optional(std::move(files));
  }

  [[nodiscard]] std::uint32_t timeline_at(Lsn position) const {
    for (const auto& [timeline, end] : ends_)
      if (position < end) return timeline;
    return ends_.rbegin()->first;
  }

  /// The bytes between these positions. Fewer: the files do not have the rest.
  [[nodiscard]] Expected<std::string> bytes(Lsn from, Lsn to) const {
    std::string bytes;
    for (std::uint64_t number = from.value / size_; number * size_ < to.value; ++number) {
      const auto path = file(number);
      const std::uint64_t begin = std::max(from.value, number * size_),
                          behind = std::min(to.value, (number + 1) * size_);
      if (!path) break;
      const auto part = read_part(*path, begin - number * size_, behind - begin);
      if (!part) return part.error();
      bytes += *part;
      if (part->size() < behind - begin) break;
    }
    return bytes;
  }

 private:
  /// The file of the newest timeline that has log there. None: there is no such file.
  [[nodiscard]] std::optional<fs::path> file(std::uint64_t number) const {
    const Lsn last{std::min(end_.value, (number + 1) * size_) - 1};
    const std::uint32_t newest = timeline_at(last), oldest = timeline_at(Lsn{number * size_});
    std::error_code error;
    for (auto each = ends_.rbegin(); each != ends_.rend(); ++each) {
      if (each->first > newest || each->first < oldest) continue;
      const fs::path file = pg_wal_ / name_of_file(each->first, number, size_);
      if (fs::exists(file, error)) return file;
    }
    return std::nullopt;
  }

  fs::path pg_wal_;
  std::uint64_t size_{};
  Lsn end_;
  /// The position at which each timeline of the log ends. The last one goes on.
  std::map<std::uint32_t, Lsn> ends_;
};

Lsn begin_of(const WalFile& file, std::uint64_t size) {
  return {(std::uint64_t{file.log} << 32U) + file.segment * size};
}

}  // namespace

std::string name_of_file(std::uint32_t timeline, std::uint64_t number, std::uint64_t size) {
  const std::uint64_t of_log = (std::uint64_t{1} << 32U) / size;
  return digits_of(timeline) + digits_of(static_cast<std::uint32_t>(number / of_log)) +
         digits_of(static_cast<std::uint32_t>(number % of_log));
}

Expected<std::optional<FirstPage>> first_page_of(const fs::path& path) {
  const auto bytes = read_part(path, 0, enough_of_first_page);
  if (!bytes) return bytes.error();
  std::error_code error;
  const auto page = first_page_in(*bytes);
  return page && fs::file_size(path, error) == page->size && !error ? page : std::nullopt;
}

std::map<std::uint32_t, Lsn> ends_in(const std::string& history) {
  std::map<std::uint32_t, Lsn> ends;
  std::istringstream lines(history);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::uint32_t timeline = 0;
    std::string lsn;
    if (!(fields >> timeline >> lsn)) continue;
    if (const auto end = parse_lsn(lsn)) ends[timeline] = *end;
  }
  return ends;
}

std::optional<std::uint32_t> timeline_in(std::string_view name) {
  return name.size() < 8 ? std::nullopt : hexadecimal(name.substr(0, 8));
}

std::string history_file(std::uint32_t timeline) {
  return digits_of(timeline) + ".history";
}

Expected<> read_messages(const fs::path& pg_wal, std::uint32_t timeline, Lsn end,
                         const std::function<bool(const LogPart&)>& see) {
  // A file may have 1 GB, so it is not read at once. A message may go on in the next part, but a
  // marker is far shorter than this.
  constexpr std::uint64_t size_of_part = 1U << 20, longest_message = 64U << 10;
  const auto files = LogFiles::open(pg_wal, timeline, end);
  if (!files) return files.error();
  if (!*files || end == Lsn{}) return {};
  for (std::uint64_t number = (end.value - 1) / size_of_part + 1; number-- > 0;) {
    const Lsn begin{number * size_of_part};
    const Lsn behind{std::min(end.value, begin.value + size_of_part)};
    const auto bytes =
        (*files)->bytes(begin, Lsn{std::min(end.value, behind.value + longest_message)});
    if (!bytes) return bytes.error();
    if (bytes->empty()) return {};
    LogPart part{begin, messages_in(*bytes, begin, behind.value - begin.value)};
    for (LogMessage& message : part.messages) message.timeline = (*files)->timeline_at(message.at);
    if (!see(part)) return {};
  }
  return {};
}

bool was_reset(const fs::path& pg_wal) {
  std::error_code error;
  std::string oldest;
  bool follows_none = false;
  for (const auto& entry : fs::directory_iterator(pg_wal, error)) {
    const std::string name = entry.path().filename().string();
    if (!wal_file(name)) continue;
    const auto page = first_page_of(entry.path());
    if (page && *page && (oldest.empty() || name.substr(8) < oldest.substr(8))) {
      oldest = name;
      follows_none = (*page)->follows_none;
    }
  }
  return follows_none;
}

std::optional<Lsn> begin_of_file_before(const fs::path& pg_wal, Lsn at) {
  const auto size = size_of_files(pg_wal);
  if (!size || at == Lsn{}) return std::nullopt;
  return Lsn{(at.value - 1) / *size * *size};
}

Expected<std::optional<std::string>> bytes_of_log(const fs::path& pg_wal, std::uint32_t timeline,
                                                  Lsn end, Lsn from, Lsn to) {
  const auto files = LogFiles::open(pg_wal, timeline, end);
  if (!files) return files.error();
  if (!*files || to <= from || end < to) return std::optional<std::string>();
  auto bytes = (*files)->bytes(from, to);
  if (!bytes) return bytes.error();
  const bool is_whole = bytes->size() == to.value - from.value;
  return is_whole ? std::optional(*std::move(bytes)) : std::nullopt;
}

bool is_short(std::string_view file, std::string_view before, Lsn begin, Lsn begins) {
  const GoodLog here = good_log(file, begin), there = good_log(before, begin);
  const std::size_t rest = there.rest.value - begin.value;
  const bool same_rest = file.substr(0, rest) == before.substr(0, rest);
  if (same_rest && here.end >= begins) return false;
  return !same_rest || there.end > here.end;
}

Expected<std::vector<std::string>> move_short_files_aside(const fs::path& pg_wal) {
  std::vector<std::string> moved;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(pg_wal, error)) {
    const std::string name = entry.path().filename().string();
    const auto wal = wal_file(name);
    if (!wal) continue;
    const auto history = read_text(pg_wal / (name.substr(0, 8) + ".history"));
    if (!history) return history.error();
    const auto ends = ends_in(history->value_or(""));
    if (ends.empty()) continue;
    const auto& [timeline, begins] = *ends.rbegin();
    const std::uint64_t size = fs::file_size(entry.path(), error);
    const Lsn begin = begin_of(*wal, size);
    if (error || begins <= begin || begins.value >= begin.value + size) continue;
    const auto file = read_text(entry.path()),
               before = read_text(pg_wal / (digits_of(timeline) + name.substr(8)));
    if (!file) return file.error();
    if (!before) return before.error();
    if (!*file || !*before || !is_short(**file, **before, begin, begins)) continue;
    const auto renamed = rename_durably(entry.path(), pg_wal / (name + ".short"));
    if (!renamed) return renamed.error();
    moved.push_back(name);
  }
  return moved;
}

}  // namespace muster::postgres
