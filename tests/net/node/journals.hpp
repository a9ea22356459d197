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

/// The path of a node's journal in that directory.
std::filesystem::path journal_of(const std::filesystem::path& directory, NodeId node);

struct Writer {
  NodeId node;
  Incarnation life;
};
/// The node and the life that wrote the line. No value for a line of the journal of faults.
std::optional<Writer> writer_of(const journal::Line& line);

/// Reads all journals in a directory while nodes write them, and rings the bell after each line.
class Journals {
 public:
  Journals(std::filesystem::path directory, Bell& bell);
  Journals(const Journals&) = delete;
  Journals& operator=(const Journals&) = delete;
  ~Journals();

  /// Adds a line about a fault of a node that the test has made.
  void note(journal::FaultKind kind, NodeId node, std::optional<NodeSet> from = std::nullopt);

  /// All lines of a node so far, of all its segments and lives, except the first `from` lines.
  [[nodiscard]] std::vector<journal::Line> lines(NodeId node, std::size_t from = 0) const;
  [[nodiscard]] std::size_t count(NodeId node) const;
  [[nodiscard]] NodeSet nodes() const;
  /// The texts in the journals that are not valid lines.
  [[nodiscard]] std::vector<std::string> unreadable() const;
  /// All lines of all nodes and all lines that the test has added, ordered by time.
  [[nodiscard]] std::vector<journal::Line> merged() const;

  /// The node's view after its last step. No value before the first step of a life, or after the
  /// last line of a life.
  [[nodiscard]] std::optional<View> view(NodeId node) const;
  /// The life of the last line.
  [[nodiscard]] Incarnation life(NodeId node) const;

  /// Reads all that is there. So all lines of nodes that have ended have then been read.
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
  mutable std::mutex mutex_;  // guards all members below
  std::map<std::filesystem::path, File> files_;
  std::map<NodeId, Node> nodes_;
  std::vector<journal::Line> faults_;
  std::vector<std::string> unreadable_;
  std::thread thread_;  // declared last, since it uses all members above
};

}  // namespace muster::test
