#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

/// `muster draw`: draws journals as a space-time diagram.

namespace muster::apps {

struct DrawOptions {
  std::vector<std::filesystem::path> journals;
  std::string output;  ///< "-" is `out`
  std::string format;  ///< svg, html, mermaid or shiviz; empty: by the ending of `output`
  std::string from;    ///< durations since the first line; empty: all
  std::string until;
  std::vector<std::uint32_t> nodes;     ///< empty: all
  std::vector<std::string> assertions;  ///< judged even if the protocol does not claim them
};

/// Draws the journals. Prints one line about the drawing to `err`, or the reason of an exit code
/// other than 0. Returns the exit code.
int draw(const DrawOptions& options, std::ostream& out, std::ostream& err);

}  // namespace muster::apps
