#pragma once

#include <muster/values/failure.hpp>

#include <filesystem>
#include <string>

namespace muster::apps {

/// The directory of a run of nodes: a temporary one, or one that its owner named.
class RunDirectory {
 public:
  /// Empty `dir`: a new temporary one. Else `dir` may be new, empty, or made by an earlier run of
  /// as many nodes, whose journals are put aside; anything else is refused.
  static Expected<RunDirectory> make(const std::string& dir, unsigned nodes);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] bool temporary() const { return temporary_; }
  /// Removes it, where it is a temporary one.
  void remove() const;

 private:
  RunDirectory(std::filesystem::path path, bool temporary)
      : path_(std::move(path)), temporary_(temporary) {}
  std::filesystem::path path_;
  bool temporary_;
};

}  // namespace muster::apps
