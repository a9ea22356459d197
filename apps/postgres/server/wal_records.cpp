#include "apps/postgres/server/wal_records.hpp"

#include "apps/postgres/server/little_endian.hpp"

#include <boost/crc.hpp>

#include <algorithm>
#include <initializer_list>

namespace muster::postgres {
namespace {

constexpr std::size_t page_size = 8192;
constexpr std::size_t alignment = 8;

// A page begins with a magic number, flags, a timeline, its own position, and the number of bytes
// by which a record of the page before goes on. The first page of a file has three fields more: the
// system identifier, the size of the file, and the size of a page.
constexpr std::uint8_t magic_of_log = 0xD1;  // the lower byte is the version
constexpr std::uint16_t goes_on_here = 1, is_first_page = 2, is_written_anew = 8;
constexpr std::size_t page_header = 24, first_page_header = 40, system_at = 24, file_size_at = 32;

// A record begins with its length, a transaction, the position of the record before, flags, the
// number of its resource manager, and its checksum.
constexpr std::size_t record_header = 24, position_before_at = 8, checksum_at = 20;
constexpr std::uint32_t longest_record = 1U << 30;
constexpr std::uint8_t manager_of_log = 0, kind_of_switch = 0x40;

// Behind its header, the record of a message has the length of its data, in one byte or in four,
// and then the data: the database, whether the message is of a transaction, the length of its
// prefix and of its text, the prefix with a zero byte, and the text.
constexpr std::uint8_t manager_of_messages = 21, in_one_byte = 0xFF, in_four_bytes = 0xFE;
constexpr std::size_t message_header = 24;

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

/// Reads files that follow each other to the end of their good log. All positions count from the
/// begin of the first one.
class Reader {
 public:
  Reader(std::string_view files, Lsn begin) : file_(files), begin_(begin) {
    const auto first = first_page_in(files);
    size_ = first ? first->size : files.size();
  }

  GoodLog read(Lsn from) {
    if (from > begin_)
      at_ = std::min(from.value - begin_.value, file_.size());
    else
      skip_rest(0);
    const std::size_t rest = at_;
    std::size_t whole = at_;
    std::optional<Lsn> last;
    while (at_ < file_.size()) {
      if (!next_record()) {
        if (!is_anew_at(broken_at_)) break;
        at_ = broken_at_;
        continue;
      }
      if (record_.size() == length_ && !(is_good() && follows(last))) break;
      last = position(record_at_);
      at_ = next_;
      if (record_.size() == length_) whole = at_;
    }
    return {position(at_), position(rest), position(whole)};
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

  /// True if that page was written after a crash had cut off the record that goes on to it.
  [[nodiscard]] bool is_anew_at(std::size_t page) const {
    return page > at_ && header_of(page) != 0 && (flags_of(page) & is_written_anew) != 0;
  }

  /// Reads the next record, and sets `next_` to its end. False: the log ends here, or the record
  /// breaks off before the page at `broken_at_`.
  bool next_record() {
    broken_at_ = 0;
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
    next_ = is_switch ? (record_at_ / size_ + 1) * size_ : aligned(at);
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
      if (header == 0 || rest_on(at) != length - record_.size()) {
        broken_at_ = at;
        return false;
      }
      at += header;
    }
  }

  // The checksum covers the data first, and then the header before the checksum.
  [[nodiscard]] bool is_good() const {
    const std::string_view bytes = record_;
    return number_at<std::uint32_t>(bytes, checksum_at) ==
           checksum_of_parts({bytes.substr(record_header), bytes.substr(0, checksum_at)});
  }

  [[nodiscard]] bool follows(const std::optional<Lsn>& last) const {
    return !last || number_at<std::uint64_t>(record_, position_before_at) == last->value;
  }

  const std::string_view file_;
  const Lsn begin_;
  std::uint64_t size_;  ///< of one file
  std::size_t at_ = 0, next_ = 0;
  std::size_t record_at_ = 0, length_ = 0;  ///< of the record that was read last
  std::size_t broken_at_ = 0;
  std::string record_;  ///< shorter than `length_`: its rest is in the next file
};

}  // namespace

std::uint32_t checksum_of(std::string_view bytes) {
  return checksum_of_parts({bytes});
}

std::optional<FirstPage> first_page_in(std::string_view bytes) {
  if (bytes.size() < enough_of_first_page || static_cast<std::uint8_t>(bytes[1]) != magic_of_log)
    return std::nullopt;
  const auto flags = number_at<std::uint16_t>(bytes, 2);
  FirstPage page;
  page.begin = Lsn{number_at<std::uint64_t>(bytes, 8)};
  page.system = number_at<std::uint64_t>(bytes, system_at);
  page.size = number_at<std::uint32_t>(bytes, file_size_at);
  page.follows_none = (flags & goes_on_here) == 0 &&
                      number_at<std::uint64_t>(bytes, first_page_header + position_before_at) == 0;
  const bool is_size = page.size >= page_size && page.size % page_size == 0;
  return (flags & is_first_page) != 0 && is_size ? std::optional(page) : std::nullopt;
}

GoodLog good_log(std::string_view files, Lsn begin, Lsn from) {
  return Reader(files, begin).read(from);
}

std::vector<LogMessage> messages_in(std::string_view log, Lsn begin, std::size_t size) {
  return Reader(log, begin).messages(size);
}

}  // namespace muster::postgres
