#pragma once

#include <muster/net/node.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace muster::net {

/// The segments of a journal on the disk. Every operation can wait for the disk, so use this object
/// in a thread that is allowed to wait.
class JournalFile {
 public:
  /// The bytes of one segment, and of all segments together.
  struct Bounds {
    std::uint64_t limit;
    std::uint64_t keep;
  };

  /// Opens no file yet.
  explicit JournalFile(const JournalOptions& options)
      : bounds{options.limit, options.keep}, path_(options.file) {}
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;
  ~JournalFile();

  /// Appends whole lines with one write(2), to a new segment if `fresh` is true. Returns false if
  /// the lines could not be written. In that case none of the lines is in the file, except perhaps
  /// a part of one, and the file is opened again for the next lines.
  bool append(std::string_view lines, bool fresh = false);

  /// Why the last `append` failed, as a clause: "cannot be written: No space left on device".
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  /// Deletes the oldest segments, so that all segments together stay below `keep` until the next
  /// one begins.
  void delete_oldest();

  Bounds bounds;  ///< a change applies from now on

  /// The bytes of the present segment.
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
  std::uint64_t largest_ = 0;                     ///< the largest single append, in bytes
  std::map<std::uint64_t, std::uint64_t> older_;  ///< the sizes of the earlier segments
  bool is_as_large_as_may_be_ = false;
  std::string trouble_;
};

}  // namespace muster::net
