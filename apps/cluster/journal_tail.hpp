#pragma once

#include <muster/journal/journal.hpp>

#include "apps/base/process.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace muster::apps {

/// Follows the journal of a node while it is written, from its first line on, over all its
/// segments.
class JournalTail {
 public:
  explicit JournalTail(std::filesystem::path file) : file_(std::move(file)) {}

  /// Appends the whole lines that were written since the last call.
  void read(std::vector<journal::Line>& lines);

  /// Lines that could not be read: torn by a kill, at the end of a life.
  [[nodiscard]] std::uint64_t torn() const { return torn_; }

  /// The segments there are, the first one first.
  [[nodiscard]] static std::vector<std::filesystem::path> segments(
      const std::filesystem::path& file);

 private:
  bool open_segment();
  bool read_segment(std::vector<journal::Line>& lines);
  void take_lines(std::vector<journal::Line>& lines);

  std::filesystem::path file_;
  unsigned segment_ = 0;
  Descriptor open_;
  std::string rest_;  ///< the beginning of a line whose end is not there yet
  std::uint64_t torn_ = 0;
};

}  // namespace muster::apps
