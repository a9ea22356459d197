#pragma once

#include "apps/cluster/cluster.hpp"

#include <string>
#include <vector>

namespace muster::apps {

/// How a demo shows what happens.
enum class Showing {
  table,  ///< lines that scroll, and below them a live table: a terminal of at least 80 columns
  lines,  ///< plain lines of ASCII
  json,   ///< one object a line
};

/// What standard output can show.
Showing showing_of_output();

/// Writes the story to standard output, and keeps the table below it.
class Screen {
 public:
  Screen(Showing showing, Duration began) : showing_(showing), began_(began) {}

  /// One line of the story, as of `at`.
  void say(Duration at, const std::string& text);
  /// A line without a time.
  void say(const std::string& text);
  /// An object of JSON; shown only as such.
  void object(const std::string& json);

  /// Draws the table anew, if there is one and the last drawing is old enough.
  void refresh(const Cluster& cluster);
  /// Takes the table away.
  void clear();

  [[nodiscard]] Showing showing() const { return showing_; }

 private:
  void write(const std::string& text);

  Showing showing_;
  Duration began_;
  std::vector<std::string> table_;
  std::size_t drawn_ = 0;  ///< lines of the table that are on the terminal
  Duration drawn_at_{};
};

/// The table: one line for each node, and a line above.
std::vector<std::string> table_of(const Cluster& cluster);

}  // namespace muster::apps
