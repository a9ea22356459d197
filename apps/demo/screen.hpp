#pragma once

#include "apps/cluster/cluster.hpp"

#include <string>
#include <vector>

namespace muster::apps {

/// The form of the demo's output.
enum class Showing {
  table,  ///< scrolling lines and a live table below them; needs 80 columns
  lines,  ///< plain lines in ASCII
  json,   ///< one JSON object a line
};

/// The form that standard output can show.
Showing showing_of_output();

/// Writes the story to standard output, with the table below it.
class Screen {
 public:
  Screen(Showing showing, Duration began) : showing_(showing), began_(began) {}

  /// Writes a line of the story. `at` is its time.
  void say(Duration at, const std::string& text);
  /// Writes a line without a time.
  void say(const std::string& text);
  /// Writes a JSON object, if the output is JSON.
  void object(const std::string& json);

  /// Draws the table again, if there is one and some time has passed since the last drawing.
  void refresh(const Cluster& cluster);
  /// Removes the table from the terminal.
  void clear();

  [[nodiscard]] Showing showing() const { return showing_; }

 private:
  void write(const std::string& text);

  Showing showing_;
  Duration began_;
  std::vector<std::string> table_;
  std::size_t drawn_ = 0;  ///< number of the table's lines on the terminal now
  Duration drawn_at_{};
};

/// The lines of the table: a header and a line for each node.
std::vector<std::string> table_of(const Cluster& cluster);

}  // namespace muster::apps
