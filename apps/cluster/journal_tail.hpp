#pragma once

#include <muster/journal/journal.hpp>

#include "apps/base/process.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace muster::apps {

/// Reads the journal of a node while it is written, from its first line on, through all segments.
class JournalTail {
 public:
  explicit JournalTail(std::filesystem::path file) : file_(std::move(file)) {}

  /// Appends the complete lines that were written since the last call.
  void read(std::vector<journal::Line>& lines);

  /// The number of lines that could not be read, because a kill cut them off.
  [[nodiscard]] std::uint64_t torn() const { return torn_; }

  /// The existing segments, the first one first.
  [[nodiscard]] static std::vector<std::filesystem::path> segments(
      const std::filesystem::path& file);

 private:
  bool open_segment();
  bool read_segment(std::vector<journal::Line>& lines);
  void take_lines(std::vector<journal::Line>& lines);

  std::filesystem::path file_;
  unsigned segment_ = 0;
  Descriptor open_;
  std::string rest_;  ///< the beginning of a line that is not complete yet
  std::uint64_t torn_ = 0;
};

}  // namespace muster::apps
