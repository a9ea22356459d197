#include "apps/postgres/server/wal.hpp"

#include <boost/crc.hpp>
#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <initializer_list>
#include <iomanip>
#include <limits>
#include <sstream>
#include <system_error>

namespace muster::postgres {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t page_size = 8192;
constexpr std::size_t alignment = 8;

// A page begins with a magic number, flags, a timeline, its own position, and the number of bytes
// by which a record of the page before goes on. The first page of a file has three fields more.
constexpr std::uint8_t magic_of_log = 0xD1;  // the lower byte is the version
constexpr std::uint16_t goes_on_here = 1, is_first_page = 2;
constexpr std::size_t page_header = 24, first_page_header = 40;

// A record begins with its length, a transaction, the position of the record before, flags, the
// number of its resource manager, and its checksum.
constexpr std::size_t record_header = 24, checksum_at = 20;
constexpr std::uint32_t longest_record = 1U << 30;
constexpr std::uint8_t manager_of_log = 0, kind_of_switch = 0x40;

// Behind its header, the record of a message has the length of its data, in one byte or in four,
// and then the data: the database, whether the message is of a transaction, the length of its
// prefix and of its text, the prefix with a zero byte, and the text.
constexpr std::uint8_t manager_of_messages = 21, in_one_byte = 0xFF, in_four_bytes = 0xFE;
constexpr std::size_t message_header = 24;

template <class Number>
Number number_at(std::string_view bytes, std::size_t at) {
  return boost::endian::endian_load<Number, sizeof(Number), boost::endian::order::little>(
      reinterpret_cast<const unsigned char*>(bytes.data()) + at);
}

std::uint32_t checksum_of_parts(std::initializer_list<std::string_view> parts) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  for (const std::string_view part : parts) crc.process_bytes(part.data(), part.size());
  return crc.checksum();
}

std::size_t aligned(std::size_t at) {
  return (at + alignment - 1) / alignment * alignment;
}

/// The text of a message with the prefix of Muster. None: the record is no such message.
std::optional<std::string_view> message_in(std::string_view record) {
  if (static_cast<std::uint8_t>(record[17]) != manager_of_messages) return std::nullopt;
  std::string_view data = record.substr(record_header);
  if (data.size() < 5) return std::nullopt;
  const auto kind = static_cast<std::uint8_t>(data[0]);
  if (kind != in_one_byte && kind != in_four_bytes) return std::nullopt;
  data.remove_prefix(kind == in_one_byte ? 2 : 5);
  if (data.size() < message_header) return std::nullopt;
  const auto prefix = number_at<std::uint64_t>(data, 8), text = number_at<std::uint64_t>(data, 16);
  data.remove_prefix(message_header);
  if (prefix != prefix_of_messages.size() + 1 || data.size() < prefix ||
      data.size() - prefix != text || !data.starts_with(prefix_of_messages))
    return std::nullopt;
  return data.substr(prefix);
}

/// Reads one file from its begin to the end of its good log. All positions count from its begin.
class Reader {
 public:
  Reader(std::string_view file, Lsn begin) : file_(file), begin_(begin) {}

  GoodLog read() {
    skip_rest(0);
    const std::size_t rest = at_;
    while (at_ < file_.size() && next_record()) {
      if (record_.size() == length_ && !is_good()) break;
      at_ = next_;
    }
    return {position(at_), position(rest)};
  }

  /// The messages that begin in the first `size` bytes. The server has flushed all of `file`, so
  /// only the checksums of messages are tested.
  std::vector<LogMessage> messages(std::size_t size) {
    std::vector<LogMessage> found;
    skip_rest(0);
    while (at_ < std::min(size, file_.size())) {
      if (!next_record()) {
        // A crash can cut a record off. PostgreSQL then goes on at the page after it.
        const std::size_t page = (at_ / page_size + 1) * page_size;
        if (page >= file_.size() || header_of(page) == 0) break;
        at_ = page;
        skip_rest(page);
        continue;
      }
      const auto text = record_.size() == length_ ? message_in(record_) : std::nullopt;
      if (text && is_good()) found.push_back({position(record_at_), 0, std::string(*text)});
      at_ = next_;
    }
    return found;
  }

 private:
  [[nodiscard]] Lsn position(std::size_t at) const {
    return {begin_.value + std::min(at, file_.size())};
  }

  /// The length of the header of the page that begins at `at`. Zero: no page of this log begins
  /// there.
  [[nodiscard]] std::size_t header_of(std::size_t at) const {
    if (at + first_page_header > file_.size()) return 0;
    const bool is_log = static_cast<std::uint8_t>(file_[at + 1]) == magic_of_log;
    if (!is_log || number_at<std::uint64_t>(file_, at + 8) != begin_.value + at) return 0;
    return (flags_of(at) & is_first_page) != 0 ? first_page_header : page_header;
  }
  [[nodiscard]] std::uint16_t flags_of(std::size_t page) const {
    return number_at<std::uint16_t>(file_, page + 2);
  }
  [[nodiscard]] std::uint32_t rest_on(std::size_t page) const {
    return (flags_of(page) & goes_on_here) != 0 ? number_at<std::uint32_t>(file_, page + 16) : 0;
  }

  /// Passes by what belongs to a record that begins before that page.
  void skip_rest(std::size_t page) {
    for (; page < file_.size(); page += page_size) {
      const std::size_t header = header_of(page);
      if (header == 0) return;
      const std::size_t rest = rest_on(page);
      if (rest == 0) return;
      at_ = page + std::min(header + aligned(rest), page_size);
      if (header + rest <= page_size) return;
    }
  }

  /// Reads the next record, and sets `next_` to its end. False: the log ends here.
  bool next_record() {
    std::size_t at = at_;
    if (at % page_size == 0) {
      const std::size_t header = header_of(at);
      if (header == 0) return false;
      at += header;
    }
    if (at + sizeof(std::uint32_t) > file_.size()) return false;
    const auto length = number_at<std::uint32_t>(file_, at);
    if (length < record_header || length > longest_record) return false;
    record_at_ = at;
    length_ = length;
    if (!gather(at, length)) return false;
    const bool is_switch = record_.size() >= record_header &&
                           static_cast<std::uint8_t>(record_[17]) == manager_of_log &&
                           (static_cast<std::uint8_t>(record_[16]) & 0xF0) == kind_of_switch;
    next_ = is_switch ? file_.size() : aligned(at);
    return true;
  }

  /// Reads a record over the ends of pages, and moves `at` behind it. If the record goes on in the
  /// next file, only the part in this file is read. False: a page is missing.
  bool gather(std::size_t& at, std::size_t length) {
    record_.clear();
    while (true) {
      const std::size_t room = page_size - at % page_size;
      const std::size_t part = std::min(length - record_.size(), room);
      record_ += file_.substr(at, part);
      at += part;
      if (record_.size() == length || at >= file_.size()) return true;
      const std::size_t header = header_of(at);
      if (header == 0 || rest_on(at) != length - record_.size()) return false;
      at += header;
    }
  }

  // The checksum covers the data first, and then the header before the checksum.
  [[nodiscard]] bool is_good() const {
    const std::string_view bytes = record_;
    return number_at<std::uint32_t>(bytes, checksum_at) ==
           checksum_of_parts({bytes.substr(record_header), bytes.substr(0, checksum_at)});
  }

  const std::string_view file_;
  const Lsn begin_;
  std::size_t at_ = 0, next_ = 0;
  std::size_t record_at_ = 0, length_ = 0;  ///< of the record that was read last
  std::string record_;  ///< shorter than `length_`: its rest is in the next file
};

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

std::string name_of_file(std::uint32_t timeline, std::uint64_t number, std::uint64_t size) {
  const std::uint64_t of_log = (std::uint64_t{1} << 32U) / size;
  return digits_of(timeline) + digits_of(static_cast<std::uint32_t>(number / of_log)) +
         digits_of(static_cast<std::uint32_t>(number % of_log));
}

/// A part of a file. Shorter: the rest cannot be read.
std::string part_of(const fs::path& path, std::uint64_t at, std::size_t size) {
  std::string bytes(size, '\0');
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at));
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return bytes;
}

/// The size that the first page of a file of the log names, if the file has that size. Other people
/// may put files into the directory, and PostgreSQL makes files that are still empty.
std::optional<std::uint64_t> size_named_in(const fs::path& path) {
  constexpr std::size_t size_at = 32;
  std::error_code error;
  const std::string page = part_of(path, 0, first_page_header);
  if (page.size() < first_page_header || static_cast<std::uint8_t>(page[1]) != magic_of_log ||
      (number_at<std::uint16_t>(page, 2) & is_first_page) == 0)
    return std::nullopt;
  const std::uint64_t size = number_at<std::uint32_t>(page, size_at);
  const bool is_size = size >= page_size && fs::file_size(path, error) == size && !error;
  return is_size ? std::optional(size) : std::nullopt;
}

/// The size of all files of a log. None: there is no such file.
std::optional<std::uint64_t> size_of_files(const fs::path& pg_wal) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(pg_wal, error))
    if (wal_file(entry.path().filename().string()))
      if (const auto size = size_named_in(entry.path())) return size;
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
  [[nodiscard]] std::string bytes(Lsn from, Lsn to) const {
    std::string bytes;
    for (std::uint64_t number = from.value / size_; number * size_ < to.value; ++number) {
      const auto path = file(number);
      const std::uint64_t begin = std::max(from.value, number * size_),
                          behind = std::min(to.value, (number + 1) * size_);
      const std::string part = path ? part_of(*path, begin - number * size_, behind - begin) : "";
      bytes += part;
      if (part.size() < behind - begin) break;
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

/// True if `file`, in which a timeline begins at `begins`, has less of the log before that position
/// than `before`, the same file of the timeline before.
bool is_short(std::string_view file, std::string_view before, Lsn begin, Lsn begins) {
  const GoodLog here = good_log(file, begin), there = good_log(before, begin);
  const std::size_t rest = there.rest.value - begin.value;
  const bool same_rest = file.substr(0, rest) == before.substr(0, rest);
  if (same_rest && here.end >= begins) return false;
  return !same_rest || there.end > here.end;
}

}  // namespace

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

std::uint32_t checksum_of(std::string_view bytes) {
  return checksum_of_parts({bytes});
}

GoodLog good_log(std::string_view file, Lsn begin) {
  return Reader(file, begin).read();
}

std::vector<LogMessage> messages_in(std::string_view log, Lsn begin, std::size_t size) {
  return Reader(log, begin).messages(size);
}

Expected<> read_messages(const fs::path& pg_wal, std::uint32_t timeline, Lsn end,
                         const std::function<bool(const LogPart&)>& see) {
  // A file may have 1 GB, so it is not read at once. A message may go on in the next part, but a
  // marker is far shorter than this.
  constexpr std::uint64_t size_of_part = 1U << 20, longest_message = std::uint64_t{8} * page_size;
  const auto files = LogFiles::open(pg_wal, timeline, end);
  if (!files) return files.error();
  if (!*files || end == Lsn{}) return {};
  for (std::uint64_t number = (end.value - 1) / size_of_part + 1; number-- > 0;) {
    const Lsn begin{number * size_of_part};
    const Lsn behind{std::min(end.value, begin.value + size_of_part)};
    const std::string bytes =
        (*files)->bytes(begin, Lsn{std::min(end.value, behind.value + longest_message)});
    if (bytes.empty()) return {};
    LogPart part{begin, messages_in(bytes, begin, behind.value - begin.value)};
    for (LogMessage& message : part.messages) message.timeline = (*files)->timeline_at(message.at);
    if (!see(part)) return {};
  }
  return {};
}

bool was_reset(const fs::path& pg_wal) {
  constexpr std::size_t position_before_at = 8;
  std::error_code error;
  std::string oldest;
  for (const auto& entry : fs::directory_iterator(pg_wal, error)) {
    const std::string name = entry.path().filename().string();
    if (wal_file(name) && size_named_in(entry.path()) &&
        (oldest.empty() || name.substr(8) < oldest.substr(8)))
      oldest = name;
  }
  const std::string bytes =
      oldest.empty() ? "" : part_of(pg_wal / oldest, 0, first_page_header + record_header);
  if (bytes.size() < first_page_header + record_header) return false;
  const bool goes_on = (number_at<std::uint16_t>(bytes, 2) & goes_on_here) != 0;
  return !goes_on && number_at<std::uint64_t>(bytes, first_page_header + position_before_at) == 0;
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
  std::string bytes = (*files)->bytes(from, to);
  const bool is_whole = bytes.size() == to.value - from.value;
  return is_whole ? std::optional(std::move(bytes)) : std::nullopt;
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
