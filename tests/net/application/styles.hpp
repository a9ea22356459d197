#pragma once

#include "script.hpp"

#include <array>
#include <ostream>

/// One application that plays a script, in each of the styles in which one can be written.

namespace muster::test {

struct Style {
  const char* name;
  std::unique_ptr<Application> (*make)(Script& script, Services& services);
  bool has_done = true;      ///< a hook may drop its Done
  bool waits_in_lab = true;  ///< a hook may wait where time stands still while it is called
  bool in_lab = true;
  friend std::ostream& operator<<(std::ostream& out, const Style& style) {
    return out << style.name;
  }
};

extern const std::array<Style, 6> styles;

/// As a program at a node's socket plays it: on a thread of its own, told all by lines.
std::unique_ptr<Application> programmed(Script& script, Services& services);

}  // namespace muster::test
