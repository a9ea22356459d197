#include "apps/journals/journals.hpp"

#include "apps/base/text.hpp"

#include <boost/json/parse.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <set>

namespace muster::apps {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t block = std::size_t{256} << 10;
constexpr std::size_t longest_line = std::size_t{16} << 20;
/// If the clock goes back by more than this, the machine was restarted.
constexpr Duration longest_step_back = std::chrono::seconds(1);

Failure io_failure(const fs::path& file, const char* what) {
  return {ExitCode::io_error, file.string() + ": " + what + ": " + std::strerror(errno)};
}

/// The number of a segment of `base`; none if the name is not that of a segment.
std::optional<std::uint64_t> segment_number(const std::string& base, const std::string& name) {
  if (!name.starts_with(base + '.')) return std::nullopt;
  return parse_number(std::string_view(name).substr(base.size() + 1));
}

/// Facts about a line that are needed before it is parsed.
struct Head {
  std::optional<Duration> t;  ///< the line's time; none if it is torn, or not of a journal
  bool begins = false;        ///< the line is the first one of a life or of a segment
};

/// Lines that Muster wrote begin with their time, so most of them are not parsed here. Lines of
/// other programs are parsed.
Head head_of(std::string_view text) {
  constexpr std::string_view key = "{\"t_ns\":";
  if (text.starts_with(key)) {
    Duration::rep t{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + key.size(), end, t);
    if (error == std::errc{} && stop != end && *stop == ',') return {Duration(t), false};
  }
  boost::json::error_code error;
  const boost::json::value line = boost::json::parse(text, error);
  const auto* object = error ? nullptr : line.if_object();
  const auto* t = object ? object->if_contains("t_ns") : nullptr;
  Head head;
  head.begins = object ? object->contains("journal") : text.starts_with("{\"journal\"");
  if (t && t->is_int64()) head.t = Duration(t->get_int64());
  return head;
}

/// Whether the line was not written to its end. A line is one object, and no proper part of an
/// object is valid JSON.
bool ends_halfway(std::string_view text) {
  boost::json::error_code error;
  boost::json::parse(text, error);
  return error.failed();
}

/// Reads the lines of one file, from its beginning.
class LineFile {
 public:
  explicit LineFile(Segment segment) : segment_(std::move(segment)) {}

  Expected<bool> next(std::string& text) {
    text.clear();
    for (;;) {
      const auto* found = static_cast<const char*>(
          std::memchr(buffer_.data() + position_, '\n', filled_ - position_));
      const std::size_t end = found ? static_cast<std::size_t>(found - buffer_.data()) : filled_;
      text.append(buffer_.data() + position_, end - position_);
      position_ = found ? end + 1 : end;
      if (text.size() > longest_line)
        return Failure{ExitCode::does_not_hold,
                       segment_.path.string() + ':' + std::to_string(number_ + 1) +
                           ": this line is longer than 16 MiB, so it is not a line of a journal"};
      if (found) break;
      const auto filled = fill();
      if (!filled) return filled.error();
      if (*filled == 0 && text.empty()) return false;
      if (*filled == 0) break;
    }
    ++number_;
    return true;
  }

  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  Expected<std::size_t> fill() {
    buffer_.resize(block);
    position_ = filled_ = 0;
    ssize_t count = -1;
    do count = ::pread(segment_.file->fd(), buffer_.data(), buffer_.size(), offset_);
    while (count < 0 && errno == EINTR);
    if (count < 0) return io_failure(segment_.path, "cannot be read");
    offset_ += count;
    return filled_ = static_cast<std::size_t>(count);
  }

  Segment segment_;
  off_t offset_ = 0;
  std::string buffer_;
  std::size_t position_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace

namespace {

/// All segments of one journal that exist. The node can delete the oldest segments at any time,
/// even while this function looks for them.
Expected<Segments> segments_of(const fs::path& path) {
  std::map<std::uint64_t, fs::path> found;
  std::error_code error;
  if (fs::is_regular_file(path, error)) found.emplace(0, path);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto number = segment_number(path.filename().string(), entry->path().filename().string());
    std::error_code none;
    if (number && entry->is_regular_file(none))
      found.emplace(*number, path.string() + '.' + std::to_string(*number));
  }
  Segments segments;
  for (const auto& [number, segment] : found) {
    Descriptor file(::open(segment.c_str(), O_RDONLY | O_CLOEXEC));
    if (file)
      segments.push_back({segment, std::make_shared<const Descriptor>(std::move(file))});
    else if (errno != ENOENT)
      return io_failure(segment, "cannot be opened");
  }
  return segments;
}

const char* no_journal(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return "is a directory: name the journals in it";
  if (fs::exists(path, error))
    return "cannot be read twice (it may be a pipe): write its content to a file first";
  return "there is no such journal file";
}

}  // namespace

Expected<std::vector<Segments>> find_journals(const std::vector<fs::path>& paths) {
  std::vector<Segments> journals;
  std::set<fs::path> taken;  // files of journals that were found before
  for (const fs::path& path : paths) {
    Expected<Segments> found = segments_of(path);
    if (!found) return found.error();
    if (found->empty()) return Failure{ExitCode::usage, path.string() + ": " + no_journal(path)};
    for (std::size_t i = 1; i < found->size(); ++i) taken.insert(fs::absolute((*found)[i].path));
    journals.push_back(*std::move(found));
  }
  std::erase_if(journals, [&](const Segments& segments) {
    return !taken.insert(fs::absolute(segments.front().path)).second;
  });
  return journals;
}

// --- One journal

/// Reads one line ahead, because the next line tells whether a line may be torn.
class JournalReader::Implementation {
 public:
  explicit Implementation(Segments segments) : segments_(std::move(segments)) {}

  Expected<bool> next(RawLine& line) {
    if (!begun_) {
      begun_ = true;
      if (const auto read = read_ahead(); !read) return read.error();
      if (has_ahead_) head_ = head_of(ahead_.text);
    }
    while (has_ahead_) {
      std::swap(line, ahead_);
      if (const auto read = read_ahead(); !read) return read.error();
      const auto t = std::exchange(head_, has_ahead_ ? head_of(ahead_.text) : Head()).t;
      line.is_torn = (!has_ahead_ || head_.begins) && ends_halfway(line.text);
      if (line.text.empty()) continue;
      if (!t && line.is_torn) {
        ++torn_;
        continue;
      }
      if (!t)
        return Failure{ExitCode::does_not_hold,
                       line.place() + ": t_ns is missing, so this is no line of a journal"};
      if (*t < last_ - longest_step_back)
        return Failure{ExitCode::does_not_hold,
                       line.place() + ": t_ns goes back by " + format_seconds(last_ - *t) +
                           " s, so the machine was restarted: give only journals that were written "
                           "between two restarts"};
      line.t = last_ = std::max(last_, *t);
      return true;
    }
    return false;
  }

  [[nodiscard]] std::uint64_t torn_lines() const { return torn_; }

 private:
  Expected<> read_ahead() {
    for (;;) {
      if (file_) {
        const auto read = file_->next(ahead_.text);
        if (!read) return read.error();
        if (*read) {
          ahead_.file = &segments_[segment_].path;
          ahead_.number = file_->number();
          has_ahead_ = true;
          return {};
        }
        file_.reset();
        ++segment_;
      }
      if (segment_ == segments_.size()) {
        has_ahead_ = false;
        return {};
      }
      file_ = std::make_unique<LineFile>(segments_[segment_]);
    }
  }

  Segments segments_;
  std::size_t segment_ = 0;
  std::unique_ptr<LineFile> file_;
  RawLine ahead_;
  Head head_;  ///< the head of the line that was read ahead
  bool begun_ = false;
  bool has_ahead_ = false;
  Duration last_ = Duration::min() + longest_step_back;
  std::uint64_t torn_ = 0;
};

JournalReader::JournalReader(Segments segments)
    : implementation_(std::make_unique<Implementation>(std::move(segments))) {}
JournalReader::JournalReader(JournalReader&&) noexcept = default;
JournalReader& JournalReader::operator=(JournalReader&&) noexcept = default;
JournalReader::~JournalReader() = default;

Expected<bool> JournalReader::next(RawLine& line) {
  return implementation_->next(line);
}

std::uint64_t JournalReader::torn_lines() const {
  return implementation_->torn_lines();
}

// --- Several journals

MergedJournals::MergedJournals(const std::vector<Segments>& journals) {
  for (const Segments& segments : journals) sources_.push_back({JournalReader(segments), {}});
}

Expected<> MergedJournals::advance(std::size_t source) {
  const auto read = sources_[source].reader.next(sources_[source].line);
  if (!read) return read.error();
  if (*read) {
    heap_.push_back(source);
    std::push_heap(heap_.begin(), heap_.end(), [this](std::size_t a, std::size_t b) {
      return std::pair(sources_[a].line.t, a) > std::pair(sources_[b].line.t, b);
    });
  }
  return {};
}

Expected<bool> MergedJournals::next(RawLine& line) {
  if (!begun_) {
    begun_ = true;
    for (std::size_t source = 0; source < sources_.size(); ++source)
      if (const auto advanced = advance(source); !advanced) return advanced.error();
  } else if (given_) {
    const std::size_t source = *std::exchange(given_, std::nullopt);
    if (const auto advanced = advance(source); !advanced) return advanced.error();
  }
  if (heap_.empty()) return false;
  std::pop_heap(heap_.begin(), heap_.end(), [this](std::size_t a, std::size_t b) {
    return std::pair(sources_[a].line.t, a) > std::pair(sources_[b].line.t, b);
  });
  given_ = heap_.back();
  heap_.pop_back();
  std::swap(line, sources_[*given_].line);
  return true;
}

std::uint64_t MergedJournals::torn_lines() const {
  std::uint64_t torn = 0;
  for (const Source& source : sources_) torn += source.reader.torn_lines();
  return torn;
}

}  // namespace muster::apps
