#pragma once

#include <muster/values/failure.hpp>

#include <filesystem>
#include <string>

namespace muster::apps {

/// The directory of a run of nodes: a temporary one, or one that the user named.
class RunDirectory {
 public:
  /// Makes the directory. If `dir` is empty, it is a new temporary one. Otherwise `dir` has to be
  /// new, empty, or the directory of an earlier run with the same number of nodes. The journals of
  /// that run are put aside. Other directories are refused.
  static Expected<RunDirectory> make(const std::string& dir, unsigned nodes);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] bool temporary() const { return temporary_; }
  /// Removes a temporary directory; keeps any other.
  void remove() const;

 private:
  RunDirectory(std::filesystem::path path, bool temporary)
      : path_(std::move(path)), temporary_(temporary) {}
  std::filesystem::path path_;
  bool temporary_;
};

}  // namespace muster::apps
