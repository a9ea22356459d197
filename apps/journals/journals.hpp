#pragma once

#include "apps/base/process.hpp"

#include <muster/values/failure.hpp>
#include <muster/values/types.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reads journal files line by line, in bounded memory.

namespace muster::apps {

/// A file of a journal. The file is opened when it is found. So it can be read even if the node
/// deletes it later, as a node does when its journal has grown.
struct Segment {
  std::filesystem::path path;
  std::shared_ptr<const Descriptor> file;
};

/// One journal: its segments in the order in which they were written (FILE, FILE.1, FILE.2, ...).
using Segments = std::vector<Segment>;

/// Finds the journals that the paths name, each with all its segments. A path that is a segment of
/// another journal named here is not a journal of its own. Fails if a file does not exist.
Expected<std::vector<Segments>> find_journals(const std::vector<std::filesystem::path>& paths);

/// One line, as it is in the file.
struct RawLine {
  std::string text;  ///< without the '\n' at its end
  Duration t{};  ///< the line's time, or the latest time of the lines before it if that is later
  const std::filesystem::path* file = nullptr;  ///< owned by the reader
  std::uint64_t number{};                       ///< the line's number in its file, from 1
  /// The line is incomplete, and is the last line of a file or the last one before a life begins.
  /// The process that wrote it was killed while it wrote, or its disk was full.
  bool is_torn = false;

  /// "FILE:NUMBER"
  [[nodiscard]] std::string place() const { return file->string() + ':' + std::to_string(number); }
};

/// Reads one journal line by line.
class JournalReader {
 public:
  explicit JournalReader(Segments segments);
  JournalReader(JournalReader&&) noexcept;
  JournalReader& operator=(JournalReader&&) noexcept;
  ~JournalReader();

  /// Reads the next line. False at the end. Skips torn lines that have no time.
  Expected<bool> next(RawLine& line);

  [[nodiscard]] std::uint64_t torn_lines() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Reads several journals as one, in the order of times. Lines of the same time come in the order
/// of the journals. The lines of one journal always keep their own order.
class MergedJournals {
 public:
  explicit MergedJournals(const std::vector<Segments>& journals);

  Expected<bool> next(RawLine& line);

  /// The index of the journal that the last line came from, from 0.
  [[nodiscard]] std::size_t journal() const { return *given_; }
  [[nodiscard]] std::uint64_t torn_lines() const;

 private:
  struct Source {
    JournalReader reader;
    RawLine line;
  };
  Expected<> advance(std::size_t source);

  std::vector<Source> sources_;
  std::vector<std::size_t> heap_;  ///< the sources that have a line
  std::optional<std::size_t> given_;
  bool begun_ = false;
};

}  // namespace muster::apps
