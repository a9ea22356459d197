#pragma once

#include <muster/net/node.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace muster::net {

/// The segments of a journal on the disk. Whatever it does may wait for the disk, so it belongs to
/// a thread that may wait.
class JournalFile {
 public:
  /// Bytes of a segment, and of all together.
  struct Bounds {
    std::uint64_t limit;
    std::uint64_t keep;
  };

  /// Opens nothing yet.
  explicit JournalFile(const JournalOptions& options)
      : bounds{options.limit, options.keep}, path_(options.file) {}
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;
  ~JournalFile();

  /// Appends whole lines with one write(2), to a new segment where `fresh` says so. False where
  /// they could not be written: then none of them is there, but perhaps a torn one, and the file is
  /// opened anew for the next.
  bool append(std::string_view lines, bool fresh = false);

  /// Why that was, as a clause: "cannot be written: No space left on device".
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  /// Deletes the oldest segments, so that all together stay below `keep` until the next one begins.
  void delete_oldest();

  Bounds bounds;  ///< from now on

  /// Bytes of the present segment.
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  bool open_last_segment();
  bool open_segment(std::uint64_t number);
  bool write_whole(std::string_view text);
  void find_segments();

  std::filesystem::path path_;
  int file_ = -1;
  std::uint64_t segment_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t largest_ = 0;                     ///< of what was appended at once
  std::map<std::uint64_t, std::uint64_t> older_;  ///< the sizes of the segments before this one
  bool is_as_large_as_may_be_ = false;
  std::string trouble_;
};

}  // namespace muster::net
