#include "log.hpp"

#include "database.hpp"
#include "format.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <utility>

// The format is described in https://www.sqlite.org/fileformat2.html#walformat.

namespace muster::storage {

namespace {

constexpr std::size_t frame_size = frame_header_size + page_size;
constexpr std::uint32_t log_magic = 0x377F0682;  // lowest bit set: checksums are big-endian
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

// One frame of the log: a page and its header.
struct Frame {
  std::string_view bytes;

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
    return (number(bytes_, 0) & ~1U) == log_magic && number(bytes_, 4) == log_version &&
           number(bytes_, 8) == page_size &&
           header_sums() == Sums{number(bytes_, 24), number(bytes_, 28)};
  }
  [[nodiscard]] Sums header_sums() const { return sum(bytes_.substr(0, 24), {}, big_endian_); }
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

 private:
  std::string_view bytes_;
  bool big_endian_;
};

}  // namespace

LogContent content_of_log(std::string_view bytes) {
  if (bytes.size() < log_header_size) return LogContent::nothing;
  const Log log(bytes);
  if (!log.header_holds()) return LogContent::nothing;
  LogContent content = LogContent::nothing;
  Sums sums = log.header_sums();
  std::size_t index = 0;
  for (; index < log.frames(); ++index) {
    const Frame frame = log.frame(index);
    const Sums right = log.computed(frame, sums);
    if (!log.of_this_round(frame) || frame.stated() != right) break;
    sums = right;
    if (frame.commits()) content = LogContent::commits;
  }
  for (; index < log.frames() && content == LogContent::commits; ++index)
    if (log.of_this_round(log.frame(index))) content = LogContent::commits_and_rest;
  return content;
}

// Compares the bytes with the beginning of every header. Zeros are accepted too, as a power cut can
// leave zeros in the place of the first header.
bool may_be_cut_off(std::string_view bytes) {
  std::string begin;
  for (const std::uint32_t value : {log_magic, log_version, std::uint32_t{page_size}})
    append(begin, value);
  for (std::size_t i = 0; i < std::min(begin.size(), bytes.size()); ++i)
    if (bytes[i] != '\0' && (bytes[i] & (i == 3 ? ~1 : ~0)) != begin[i]) return false;
  return true;
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
