#pragma once

#include "apps/base/failed.hpp"

#include <string>
#include <vector>

/// How commands that judge end where nothing is violated, beside the exit codes of
/// muster/values/failure.hpp (docs/operating.md).

namespace muster::apps {

/// A limit ended the search, nothing could be checked or was ever claimed, or a fault that was
/// asked for never came about.
inline constexpr ExitCode not_decided{9};

/// A signal ended the command before its work was done.
inline constexpr ExitCode interrupted{130};

/// A verdict in JSON: "false" if something is violated, "null" if nothing is decided.
inline std::string json_of_verdict(bool held, bool is_decided) {
  if (!held) return "false";
  return is_decided ? "true" : "null";
}

/// A verdict in words, to stand before the counts.
inline std::string words_of_verdict(bool held, bool is_decided) {
  if (!held) return "NOT ALL HELD: ";
  return is_decided ? "All held: " : "All held as far as it went: ";
}

/// "a, b, c"
template <class Names>
std::string listed(const Names& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

/// The flags allow some of a trouble, of which a search has seen nothing.
inline Failure never_came_about(const std::vector<std::string>& flags) {
  return {not_decided, listed(flags) +
                           ": none came about in this world, so nothing is known of it: leave it "
                           "out, or search another world"};
}

}  // namespace muster::apps
