#pragma once

#include "script.hpp"

#include <array>
#include <ostream>

/// One application that plays a script, in each style in which an application can be written.

namespace muster::test {

struct Style {
  const char* name;
  std::unique_ptr<Application> (*make)(Script& script, Services& services);
  bool has_done = true;  ///< hooks get a Done, which they can drop
  /// A hook may wait in the lab, although simulated time does not pass while a hook is being
  /// called.
  bool waits_in_lab = true;
  bool in_lab = true;
  friend std::ostream& operator<<(std::ostream& out, const Style& style) {
    return out << style.name;
  }
};

extern const std::array<Style, 6> styles;

/// The application as a program at a node's socket. The program runs on a thread of its own, and
/// exchanges lines with the node.
std::unique_ptr<Application> programmed(Script& script, Services& services);

}  // namespace muster::test
