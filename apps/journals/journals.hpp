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

/// Journal files read line by line, in bounded memory.

namespace muster::apps {

/// A file of a journal, open from when it was found: what a node deletes since, as its journal has
/// grown, can still be read, and read again.
struct Segment {
  std::filesystem::path path;
  std::shared_ptr<const Descriptor> file;
};

/// One journal: its segments in the order in which they were written (FILE, FILE.1, FILE.2, ...).
using Segments = std::vector<Segment>;

/// The journals that these paths name, each with all its segments. A path that is a segment of
/// another one named here is not a journal of its own. Fails where there is no such file.
Expected<std::vector<Segments>> find_journals(const std::vector<std::filesystem::path>& paths);

/// One line as it stands in the file.
struct RawLine {
  std::string text;  ///< without its '\n'
  Duration t{};      ///< its time, or that of the line before it in the file where that is later
  const std::filesystem::path* file = nullptr;  ///< of the reader's
  std::uint64_t number{};                       ///< from 1
  /// It ends halfway, and is the last of a file or the last before a life begins: the process that
  /// wrote it was killed on the way, or its disk was full.
  bool is_torn = false;

  /// "FILE:NUMBER"
  [[nodiscard]] std::string place() const { return file->string() + ':' + std::to_string(number); }
};

/// One journal, line by line.
class JournalReader {
 public:
  explicit JournalReader(Segments segments);
  JournalReader(JournalReader&&) noexcept;
  JournalReader& operator=(JournalReader&&) noexcept;
  ~JournalReader();

  /// The next line; false at the end. Lines that are too torn to have a time are passed over.
  Expected<bool> next(RawLine& line);

  [[nodiscard]] std::uint64_t torn_lines() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Several journals as one, in the order of their times; lines of the same time in the order of the
/// journals, those of one journal always in their own.
class MergedJournals {
 public:
  explicit MergedJournals(const std::vector<Segments>& journals);

  Expected<bool> next(RawLine& line);

  /// Which of the journals the line came from that was given last, from 0.
  [[nodiscard]] std::size_t journal() const { return *given_; }
  [[nodiscard]] std::uint64_t torn_lines() const;

 private:
  struct Source {
    JournalReader reader;
    RawLine line;
  };
  Expected<> advance(std::size_t source);

  std::vector<Source> sources_;
  std::vector<std::size_t> heap_;  ///< of those that have a line
  std::optional<std::size_t> given_;
  bool begun_ = false;
};

}  // namespace muster::apps
