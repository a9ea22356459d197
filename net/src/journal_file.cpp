#include "journal_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace muster::net {

namespace {

std::filesystem::path segment_path(const std::filesystem::path& file, unsigned number) {
  if (number == 0) return file;
  return file.string() + "." + std::to_string(number);
}

}  // namespace

JournalFile::JournalFile(JournalOptions options, std::function<void(std::string&)> first_line)
    : options_(std::move(options)), first_line_(std::move(first_line)) {
  open_last_segment();
}

JournalFile::~JournalFile() {
  release();
  if (file_ >= 0) ::close(file_);
}

void JournalFile::append(std::string_view line) {
  held_ += line;
  ++lines_held_;
  if (!holds_) release();
}

void JournalFile::release() {
  holds_ = false;
  if (held_.empty()) return;
  if (!write_whole(held_)) dropped_ += lines_held_;
  held_.clear();
  lines_held_ = 0;
}

void JournalFile::make_room() {
  if (file_ < 0 || size_ < options_.limit) return;
  open_segment(segment_ + 1);
  std::string first;
  first_line_(first);
  append(first);
}

// A new life goes on in the last segment that has room, on a fresh line: the life before may have
// been killed in the middle of one.
void JournalFile::open_last_segment() {
  unsigned last = 0;
  std::error_code ignored;
  while (std::filesystem::exists(segment_path(options_.file, last + 1), ignored)) ++last;
  open_segment(last);
  if (size_ >= options_.limit) open_segment(last + 1);
  if (size_ == 0) return;
  char end = '\n';
  if (::pread(file_, &end, 1, static_cast<off_t>(size_) - 1) == 1 && end != '\n') write_whole("\n");
}

void JournalFile::open_segment(unsigned number) {
  if (file_ >= 0) ::close(file_);
  segment_ = number;
  size_ = 0;
  file_ = ::open(segment_path(options_.file, number).c_str(),
                 O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  struct stat about {};
  if (file_ >= 0 && ::fstat(file_, &about) == 0) size_ = static_cast<std::uint64_t>(about.st_size);
}

bool JournalFile::write_whole(std::string_view text) {
  if (file_ < 0) return false;
  ssize_t written = -1;
  do {
    written = ::write(file_, text.data(), text.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(text.size())) {
    size_ += text.size();
    return true;
  }
  ::close(file_);
  file_ = -1;
  return false;
}

}  // namespace muster::net
