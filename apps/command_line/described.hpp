#pragma once

#include <muster/values/describe.hpp>

#include <string>
#include <vector>

namespace CLI {
class App;
}

/// The commands as their `--help` describes them, for who writes that down: the one description.

namespace muster::apps {

using muster::operator==;

/// An option, or what stands in a certain place of the command line.
struct DescribedOption {
  std::vector<std::string> names;  ///< "-h", "--help"; none: its place counts
  std::string value;               ///< "DIR", "text|json"; empty: it is a flag
  std::string what;
  std::vector<std::string> choices;  ///< all values, where they are few
  bool required = false;
};
MUSTER_DESCRIBE(DescribedOption, names, value, what, choices, required);

struct DescribedCommand {
  std::string name;  ///< in full: "muster config check"
  std::string what;
  std::string more;  ///< lines
  std::vector<DescribedOption> options;
  std::vector<DescribedCommand> commands;

  /// "check" of "muster config check".
  [[nodiscard]] std::string last_name() const { return name.substr(name.rfind(' ') + 1); }
};
MUSTER_DESCRIBE(DescribedCommand, name, what, more, options, commands);

DescribedCommand described(const CLI::App& app, const std::string& before = "");

/// This command and all below it.
std::vector<const DescribedCommand*> all_of(const DescribedCommand& command);

/// What completes its words in that shell.
std::string bash_completion(const DescribedCommand& muster);
std::string zsh_completion(const DescribedCommand& muster);
std::string fish_completion(const DescribedCommand& muster);

/// The manual page of a command, and of those below it where `whole`.
std::string man_page(const DescribedCommand& command, const std::string& version, bool whole);

}  // namespace muster::apps
