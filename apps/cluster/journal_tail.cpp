#include "apps/cluster/journal_tail.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>

namespace muster::apps {
namespace {

std::filesystem::path segment_path(const std::filesystem::path& file, unsigned segment) {
  return segment == 0 ? file : std::filesystem::path(file.string() + "." + std::to_string(segment));
}

}  // namespace

std::vector<std::filesystem::path> JournalTail::segments(const std::filesystem::path& file) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (unsigned segment = 0; std::filesystem::exists(segment_path(file, segment), error);
       ++segment) {
    found.push_back(segment_path(file, segment));
  }
  return found;
}

bool JournalTail::open_segment() {
  if (open_) return true;
  open_ = Descriptor(::open(segment_path(file_, segment_).c_str(), O_RDONLY | O_CLOEXEC));
  return static_cast<bool>(open_);
}

void JournalTail::read(std::vector<journal::Line>& lines) {
  std::error_code error;
  while (open_segment()) {
    // Test this before reading: the next segment begins after the last line of this one is written.
    const bool last = !std::filesystem::exists(segment_path(file_, segment_ + 1), error);
    while (read_segment(lines)) {
    }
    if (last) return;
    if (!rest_.empty()) ++torn_;
    rest_.clear();
    open_ = Descriptor();
    ++segment_;
  }
}

bool JournalTail::read_segment(std::vector<journal::Line>& lines) {
  std::array<char, 1 << 16> buffer;
  const ssize_t size = ::read(open_.fd(), buffer.data(), buffer.size());
  if (size <= 0) return false;
  rest_.append(buffer.data(), static_cast<std::size_t>(size));
  take_lines(lines);
  return true;
}

void JournalTail::take_lines(std::vector<journal::Line>& lines) {
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    if (end == begin) continue;  // an empty line comes after a torn one
    auto line = journal::parse_line(std::string_view(rest_).substr(begin, end - begin));
    if (line) {
      lines.push_back(std::move(*line));
    } else {
      ++torn_;
    }
  }
  rest_.erase(0, begin);
}

}  // namespace muster::apps
