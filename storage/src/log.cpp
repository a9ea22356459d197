#include "log.hpp"

#include "database.hpp"
#include "format.hpp"

#include <sqlite3.h>

#include <cstdint>
#include <utility>

// The format is described in https://www.sqlite.org/fileformat2.html#walformat.

namespace muster::storage {

namespace {

constexpr std::size_t frame_size = frame_header_size + page_size;
constexpr std::uint32_t log_magic = 0x377F0682;  // the lowest bit: checksums are big-endian
constexpr std::uint32_t log_version = 3007000;

using Sums = std::pair<std::uint32_t, std::uint32_t>;

std::uint32_t number(std::string_view bytes, std::size_t at, bool big_endian = true) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8U | static_cast<unsigned char>(bytes[at + (big_endian ? i : 3 - i)]);
  return value;
}

void append(std::string& bytes, std::uint32_t value) {
  for (unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(value >> shift & 0xFFU);
}

Sums sum(std::string_view bytes, Sums sums, bool big_endian) {
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    sums.first += number(bytes, at, big_endian) + sums.second;
    sums.second += number(bytes, at + 4, big_endian) + sums.first;
  }
  return sums;
}

// One frame: a page, and what it says of itself.
struct Frame {
  std::string_view bytes;

  [[nodiscard]] bool empty() const { return number(bytes, 0) == 0; }
  [[nodiscard]] bool commits() const { return number(bytes, 4) != 0; }
  [[nodiscard]] std::string_view salts() const { return bytes.substr(8, 8); }
  [[nodiscard]] Sums stated() const { return {number(bytes, 16), number(bytes, 20)}; }
  [[nodiscard]] Sums computed(Sums before, bool big_endian) const {
    return sum(bytes.substr(frame_header_size), sum(bytes.substr(0, 8), before, big_endian),
               big_endian);
  }
};

class Log {
 public:
  explicit Log(std::string_view bytes) : bytes_(bytes), big_endian_((number(bytes, 0) & 1U) != 0) {}

  [[nodiscard]] bool header_holds() const {
    return begins_as_each_header_does() && header_sums() == stated();
  }
  [[nodiscard]] Sums header_sums() const { return sum(bytes_.substr(0, 24), {}, big_endian_); }
  [[nodiscard]] Sums stated() const { return {number(bytes_, 24), number(bytes_, 28)}; }
  [[nodiscard]] std::size_t frames() const {
    return (bytes_.size() - log_header_size) / frame_size;
  }
  [[nodiscard]] Frame frame(std::size_t index) const {
    return {bytes_.substr(log_header_size + index * frame_size, frame_size)};
  }
  [[nodiscard]] bool of_this_round(const Frame& frame) const {
    return frame.salts() == bytes_.substr(16, 8);
  }
  [[nodiscard]] Sums computed(const Frame& frame, Sums before) const {
    return frame.computed(before, big_endian_);
  }

  // How many commits of this round there are from that frame on, whatever became of their pages.
  [[nodiscard]] int commits_from(std::size_t index) const {
    int commits = 0;
    for (; index < frames(); ++index)
      commits += of_this_round(frame(index)) && frame(index).commits() ? 1 : 0;
    return commits;
  }

  // Where the header does not hold: is it that of the frames below, damaged? A header that the
  // power cut off is another one, from the left up to some byte, over that of the frames.
  [[nodiscard]] bool header_is_damaged() const {
    if (frames() == 0 || frame(0).empty()) return false;
    const Frame first = frame(0);
    const auto begins_at = [&](Sums sums) {
      return first.stated() == first.computed(sums, false) ||
             first.stated() == first.computed(sums, true);
    };
    if (begins_at(header_sums())) return true;
    if (begins_at(stated())) return !was_cut_off_over(first.salts());
    return !begins_as_each_header_does() && has_chained_frames();
  }

 private:
  // Every header has these bytes, the old one and the new one alike, and so has any mixture.
  [[nodiscard]] bool begins_as_each_header_does() const {
    return (number(bytes_, 0) & ~1U) == log_magic && number(bytes_, 4) == log_version &&
           number(bytes_, 8) == page_size;
  }
  // One frame at least holds when the one before it is believed.
  [[nodiscard]] bool has_chained_frames() const {
    for (std::size_t index = 1; index < frames(); ++index) {
      const Frame before = frame(index - 1);
      const Frame next = frame(index);
      if (next.empty() || next.salts() != before.salts()) continue;
      for (const bool big_endian : {false, true})
        if (next.stated() == next.computed(before.stated(), big_endian)) return true;
    }
    return false;
  }
  // Each header counts one up, big-endian: a cut inside that number leaves the left bytes of the
  // new one before the right bytes, all ones, of the old one.
  [[nodiscard]] bool was_cut_off_over(std::string_view salts) const {
    const auto fits = [&](unsigned bits_of_old) {
      const std::uint32_t ones = (1U << bits_of_old) - 1;
      const std::uint32_t old = number(bytes_, 12) - (1U << bits_of_old);
      std::string header(bytes_.substr(0, 12));
      append(header, old);
      return (old & ones) == ones && sum(header.append(salts), {}, big_endian_) == stated();
    };
    return fits(0) || fits(8) || fits(16) || fits(24);
  }

  std::string_view bytes_;
  bool big_endian_;
};

Failure corrupt(const std::filesystem::path& file, const std::string& where) {
  return refused(file, "is corrupt (" + where +
                           ", with commits after it): restore the whole directory, or put it "
                           "aside and start the node anew with --initialise");
}

}  // namespace

Expected<LogContent> check_log(const std::filesystem::path& file, std::string_view bytes) {
  if (bytes.size() < log_header_size) return LogContent::nothing;
  const Log log(bytes);
  if (!log.header_holds()) {
    if (log.header_is_damaged()) return corrupt(file, "its header");
    return LogContent::nothing;
  }
  LogContent content = LogContent::nothing;
  Sums sums = log.header_sums();
  for (std::size_t index = 0; index < log.frames(); ++index) {
    const Frame frame = log.frame(index);
    const Sums right = log.computed(frame, sums);
    if (log.of_this_round(frame) && frame.stated() == right) {
      sums = right;
      if (frame.commits()) content = LogContent::commits;
      continue;
    }
    // The power can have cut off one commit. Its frames may have reached the disk without this one,
    // but no later commit: that one was begun when all of the one before was durable. Whatever
    // became of the frames between, those behind it tell by their salts that they are of this
    // round. This one may have lost just those, which its checksum does not cover.
    const int is_one = frame.commits() && frame.stated() == right ? 1 : 0;
    if (log.commits_from(index) + is_one > 1)
      return corrupt(file, "page " + std::to_string(index + 1));
    break;
  }
  return content;
}

std::string header_of_another_round(std::string_view log) {
  std::string header;
  append(header, log_magic);
  append(header, log_version);
  append(header, page_size);
  append(header, number(log, 12) + 1);
  std::string salts(8, '\0');
  sqlite3_randomness(static_cast<int>(salts.size()), salts.data());
  header += salts;
  const auto [first, second] = sum(header, {}, false);
  append(header, first);
  append(header, second);
  return header;
}

}  // namespace muster::storage
