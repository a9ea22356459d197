#include "record/journal_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

namespace muster::net {

namespace fs = std::filesystem;

namespace {

fs::path segment_path(const fs::path& file, std::uint64_t number) {
  if (number == 0) return file;
  return file.string() + "." + std::to_string(number);
}

/// The number of the segment with that name; none if it is not a segment.
std::optional<std::uint64_t> segment_number(const std::string& file, const std::string& name) {
  if (name == file) return 0;
  if (!name.starts_with(file + '.')) return std::nullopt;
  const char* const begin = name.data() + file.size() + 1;
  const char* const end = name.data() + name.size();
  std::uint64_t number{};
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error != std::errc{} || stop != end || number == 0) return std::nullopt;
  return number;
}

// Flags of open(): it follows no symbolic link, and programs do not inherit the file.
constexpr int itself = O_NOFOLLOW | O_CLOEXEC;

/// The fault of an open file that is to be a journal; empty: none. Another user can have put the
/// file there to make the node write into another file.
std::string trouble_with(int file) {
  struct stat about {};
  if (::fstat(file, &about) != 0) return std::string("cannot be examined: ") + std::strerror(errno);
  if (!S_ISREG(about.st_mode)) return "is not a regular file";
  if (about.st_uid != ::geteuid()) return "belongs to another user";
  return about.st_nlink > 1 ? "has a second name (hard link)" : "";
}

/// True if the file is empty or begins as a journal does.
bool begins_as_a_journal(int file) {
  constexpr std::string_view first_of_all = R"({"journal":"muster")";
  std::array<char, first_of_all.size()> first{};
  const ssize_t size = ::pread(file, first.data(), first.size(), 0);
  return size >= 0 && first_of_all.starts_with({first.data(), static_cast<std::size_t>(size)});
}

std::string why_not_opened() {
  if (errno == ELOOP) return "is a symbolic link";
  return std::string("cannot be opened: ") + std::strerror(errno);
}

}  // namespace

std::string trouble_with_journal(const fs::path& file) {
  // Checks an existing file without waiting for anything. Opening it for writing reports other
  // faults.
  const int opened = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | itself);
  if (opened < 0 && errno == ENXIO) return "is not a regular file";  // a socket
  if (opened < 0) return errno == ELOOP ? why_not_opened() : "";
  std::string trouble = trouble_with(opened);
  if (trouble.empty() && !begins_as_a_journal(opened)) trouble = "is not a journal";
  ::close(opened);
  return trouble;
}

JournalFile::~JournalFile() {
  if (file_ >= 0) ::close(file_);
}

bool JournalFile::append(std::string_view lines, bool fresh) {
  if (file_ < 0 ? !open_last_segment() : fresh && !open_segment(segment_ + 1)) return false;
  largest_ = std::max<std::uint64_t>(largest_, lines.size());
  return write_whole(lines);
}

// Finds all segments, including those of earlier processes.
void JournalFile::find_segments() {
  older_.clear();
  const fs::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto number =
        segment_number(path_.filename().string(), entry->path().filename().string());
    std::error_code none;
    if (!number || !entry->is_regular_file(none)) continue;
    const auto size = entry->file_size(none);
    if (!none) older_[*number] = size;
  }
}

// A new life continues in the last segment that has room. It begins on a fresh line, as the earlier
// life may have been killed in the middle of a line.
bool JournalFile::open_last_segment() {
  find_segments();
  const std::uint64_t last = older_.empty() ? 0 : older_.rbegin()->first;
  const std::uint64_t before = older_.empty() ? 0 : older_.rbegin()->second;
  const bool is_full = before >= bounds.limit || std::exchange(is_as_large_as_may_be_, false);
  if (!open_segment(is_full ? last + 1 : last)) return false;
  if (size_ == 0) return true;
  char end = '\n';
  const bool is_torn = ::pread(file_, &end, 1, static_cast<off_t>(size_) - 1) == 1 && end != '\n';
  return !is_torn || write_whole("\n");
}

bool JournalFile::open_segment(std::uint64_t number) {
  if (file_ >= 0) {
    ::close(file_);
    older_[segment_] = size_;
  }
  older_.erase(number);
  segment_ = number;
  size_ = 0;
  file_ = ::open(segment_path(path_, number).c_str(), O_RDWR | O_APPEND | O_CREAT | itself, 0600);
  trouble_ = file_ < 0 ? why_not_opened() : trouble_with(file_);
  if (!trouble_.empty()) {
    if (file_ >= 0) ::close(std::exchange(file_, -1));
    return false;
  }
  struct stat about {};
  if (::fstat(file_, &about) == 0) size_ = static_cast<std::uint64_t>(about.st_size);
  return true;
}

// Writes all of the text. If the write fails, removes the part that was written, so that no partial
// line stays. If even the removal fails, the next write reports why.
bool JournalFile::write_whole(std::string_view text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t more = ::write(file_, text.data() + written, text.size() - written);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    written += static_cast<std::size_t>(more);
  }
  if (written == text.size()) {
    size_ += text.size();
    return true;
  }
  is_as_large_as_may_be_ = errno == EFBIG;
  trouble_ = std::string("cannot be written: ") + std::strerror(errno);
  [[maybe_unused]] const int cut = written > 0 ? ::ftruncate(file_, static_cast<off_t>(size_)) : 0;
  ::close(std::exchange(file_, -1));
  return false;
}

// Deletes old segments. A segment that cannot be deleted is not tried again in this process.
void JournalFile::delete_oldest() {
  std::uint64_t all = std::max(size_, bounds.limit) + largest_;
  for (const auto& [number, size] : older_) all += size;
  while (all >= bounds.keep && !older_.empty()) {
    const auto [number, size] = *older_.begin();
    ::unlink(segment_path(path_, number).c_str());
    older_.erase(older_.begin());
    all -= size;
  }
}

}  // namespace muster::net
