#pragma once

#include "apps/draw/layout.hpp"
#include "apps/draw/markup.hpp"

#include <initializer_list>
#include <string>
#include <variant>

/// Helpers for lines and texts of the diagram.

namespace muster::apps::drawing {

/// An SVG path: its commands and numbers in a row.
inline std::string path(std::initializer_list<std::variant<const char*, int>> parts) {
  std::string out;
  bool number = false;
  for (const auto& part : parts) {
    if (const auto* value = std::get_if<int>(&part)) {
      if (number) out += ' ';
      out += std::to_string(*value);
      number = true;
    } else {
      out += std::get<const char*>(part);
      number = false;
    }
  }
  return out;
}

inline void append_path(std::string& out, std::string_view of_class,
                        std::initializer_list<std::variant<const char*, int>> parts) {
  Tag(out, "path").with("class", of_class).with("d", path(parts)).close();
}

inline Tag text_at(std::string& out, std::string_view of_class, int x, int y) {
  Tag tag(out, "text");
  tag.with("class", of_class).with("x", x).with("y", y);
  return tag;
}

/// Half the width of a lane's band.
constexpr int half_band = 8;

/// Draws letters, both those that arrived and those that did not.
void append_arrows(std::string& out, const Layout& layout);

/// Writes notes into the margin: violated assertions, times in which assertions are not claimed,
/// and cuts.
void append_notes(std::string& out, const Layout& layout);

/// The y at which the notes end, which can be below the lanes.
int end_of_notes(const Layout& layout);

}  // namespace muster::apps::drawing
