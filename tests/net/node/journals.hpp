#pragma once

#include "bell.hpp"

#include <muster/journal/journal.hpp>

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

/// The journals of some nodes, read while they are written.

namespace muster::test {

/// Where the journal of a node begins in a directory.
std::filesystem::path journal_of(const std::filesystem::path& directory, NodeId node);

struct Writer {
  NodeId node;
  Incarnation life;
};
/// None of a line that is no node's.
std::optional<Writer> writer_of(const journal::Line& line);

/// Follows what is written into a directory of journals, and rings at each line.
class Journals {
 public:
  Journals(std::filesystem::path directory, Bell& bell);
  Journals(const Journals&) = delete;
  Journals& operator=(const Journals&) = delete;
  ~Journals();

  /// A line of the test's own, about what it does to a node.
  void note(journal::FaultKind kind, NodeId node, std::optional<NodeSet> from = std::nullopt);

  /// All lines of a node so far, over all segments and lives; but the first `from`.
  [[nodiscard]] std::vector<journal::Line> lines(NodeId node, std::size_t from = 0) const;
  [[nodiscard]] std::size_t count(NodeId node) const;
  [[nodiscard]] NodeSet nodes() const;
  /// Lines that are none, as they were found.
  [[nodiscard]] std::vector<std::string> unreadable() const;
  /// All lines of all nodes, and the test's own, in the order of their times.
  [[nodiscard]] std::vector<journal::Line> merged() const;

  /// The view after the last step; none before the first of a life, and after its last line.
  [[nodiscard]] std::optional<View> view(NodeId node) const;
  /// The life of the last line.
  [[nodiscard]] Incarnation life(NodeId node) const;

  /// Reads what is there; what a node has written before it ended is certain to be read then.
  void read_all();

 private:
  struct File {
    std::uint64_t read = 0;
    std::string rest;  ///< the beginning of a line whose end is not there yet
  };
  struct Node {
    std::vector<journal::Line> lines;
    std::optional<View> view;
    Incarnation life;
  };

  void follow();
  void read_locked();
  void read_file(const std::filesystem::path& path, File& file);
  void take(std::string_view text);

  const std::filesystem::path directory_;
  Bell& bell_;
  int watch_ = -1;
  int wake_ = -1;
  mutable std::mutex mutex_;  // guards all below
  std::map<std::filesystem::path, File> files_;
  std::map<NodeId, Node> nodes_;
  std::vector<journal::Line> faults_;
  std::vector<std::string> unreadable_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace muster::test
