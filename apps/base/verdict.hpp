#pragma once

#include "apps/base/failed.hpp"

#include <string>
#include <vector>

/// Exit codes and words of commands that judge, in addition to the exit codes of
/// muster/values/failure.hpp (docs/reference/exit-codes.md).

namespace muster::apps {

/// The command could not reach a verdict. A limit ended the search, no assertion was checked or
/// ever claimed, or a requested fault did not occur.
inline constexpr ExitCode not_decided{9};

/// A signal ended the command before its work was done.
inline constexpr ExitCode interrupted{130};

/// A verdict in JSON: "false" if an assertion is violated, "null" if nothing is decided.
inline std::string json_of_verdict(bool held, bool is_decided) {
  if (!held) return "false";
  return is_decided ? "true" : "null";
}

/// A verdict in words; the caller prints the counts after it.
inline std::string words_of_verdict(bool held, bool is_decided) {
  if (!held) return "NOT ALL HELD: ";
  return is_decided ? "All held: " : "All held, but not all was checked: ";
}

/// "a, b, c"
template <class Names>
std::string listed(const Names& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

/// The failure of a search in which none of the faults that these flags allow ever occurred.
inline Failure never_came_about(const std::vector<std::string>& flags) {
  return {not_decided, listed(flags) +
                           ": none occurred in this world, so nothing was checked about such "
                           "faults: leave the flag out, or search another world"};
}

}  // namespace muster::apps
