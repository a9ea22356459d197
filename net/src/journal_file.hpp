#pragma once

#include <muster/net/node.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace muster::net {

/// Appends lines to a journal's segments, those of a step with one write(2). A journal that cannot
/// be written any more is dropped and its lines counted; it never stops the node.
class JournalFile {
 public:
  /// `first_line` appends the line with which a new segment inside this life begins.
  JournalFile(JournalOptions options, std::function<void(std::string&)> first_line);
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;
  ~JournalFile();

  /// A whole line, with its '\n'.
  void append(std::string_view line);

  /// Begins a new segment where this one has reached its limit. To be called before a step: the
  /// first line carries the state from which the next line goes on.
  void make_room();

  /// What is appended from now on is written by `release`.
  void hold() { holds_ = true; }
  void release();

  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  void open_last_segment();
  void open_segment(unsigned number);
  bool write_whole(std::string_view text);

  JournalOptions options_;
  std::function<void(std::string&)> first_line_;
  int file_ = -1;
  unsigned segment_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t dropped_ = 0;
  bool holds_ = false;
  std::string held_;
  std::uint64_t lines_held_ = 0;
};

}  // namespace muster::net
