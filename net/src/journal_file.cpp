#include "journal_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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

/// The number of the segment of that name; none where it is not one.
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

}  // namespace

JournalFile::~JournalFile() {
  if (file_ >= 0) ::close(file_);
}

bool JournalFile::append(std::string_view lines, bool fresh) {
  if (file_ < 0 ? !open_last_segment() : fresh && !open_segment(segment_ + 1)) return false;
  largest_ = std::max<std::uint64_t>(largest_, lines.size());
  return write_whole(lines);
}

// What is there counts, whoever wrote it, but for what is no file.
void JournalFile::find_segments() {
  older_.clear();
  const fs::path folder = options_.file.has_parent_path() ? options_.file.parent_path() : ".";
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto number =
        segment_number(options_.file.filename().string(), entry->path().filename().string());
    std::error_code none;
    if (!number || !entry->is_regular_file(none)) continue;
    const auto size = entry->file_size(none);
    if (!none) older_[*number] = size;
  }
}

// A new life goes on in the last segment that has room, on a fresh line: the life before may have
// been killed in the middle of one.
bool JournalFile::open_last_segment() {
  find_segments();
  const std::uint64_t last = older_.empty() ? 0 : older_.rbegin()->first;
  const std::uint64_t before = older_.empty() ? 0 : older_.rbegin()->second;
  const bool is_full = before >= options_.limit || std::exchange(is_as_large_as_may_be_, false);
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
  file_ = ::open(segment_path(options_.file, number).c_str(),
                 O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0) return fail("cannot be opened");
  struct stat about {};
  if (::fstat(file_, &about) == 0 && S_ISREG(about.st_mode))
    size_ = static_cast<std::uint64_t>(about.st_size);
  return true;
}

// What was written in part is taken away again, where that can be. Why no more of it was is told
// when the rest is tried.
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
  fail("cannot be written");
  [[maybe_unused]] const int cut = written > 0 ? ::ftruncate(file_, static_cast<off_t>(size_)) : 0;
  ::close(std::exchange(file_, -1));
  return false;
}

bool JournalFile::fail(const char* what) {
  trouble_ = what + (": " + std::string(std::strerror(errno)));
  return false;
}

// One that cannot be deleted is not tried again in this process.
void JournalFile::delete_oldest() {
  std::uint64_t all = std::max(size_, options_.limit) + largest_;
  for (const auto& [number, size] : older_) all += size;
  while (all >= options_.keep && !older_.empty()) {
    const auto [number, size] = *older_.begin();
    ::unlink(segment_path(options_.file, number).c_str());
    older_.erase(older_.begin());
    all -= size;
  }
}

}  // namespace muster::net
