#pragma once

#include <muster/values/describe.hpp>

#include <string>
#include <vector>

namespace CLI {
class App;
}

/// The commands as their `--help` describes them. Manual pages and completions are made from this
/// description.

namespace muster::apps {

using muster::operator==;

/// An option, or a positional argument.
struct DescribedOption {
  std::vector<std::string> names;  ///< "-h", "--help"; empty for a positional argument
  std::string value;               ///< "DIR", "text|json"; empty for a flag
  std::string what;
  std::vector<std::string> choices;  ///< all values, if there are few
  bool required = false;
};
MUSTER_DESCRIBE(DescribedOption, names, value, what, choices, required);

struct DescribedCommand {
  std::string name;  ///< in full: "muster config check"
  std::string what;
  std::string more;  ///< further lines
  std::vector<DescribedOption> options;
  std::vector<DescribedCommand> commands;

  /// The last word of the name: "check" for "muster config check".
  [[nodiscard]] std::string last_name() const { return name.substr(name.rfind(' ') + 1); }
};
MUSTER_DESCRIBE(DescribedCommand, name, what, more, options, commands);

DescribedCommand described(const CLI::App& app, const std::string& before = "");

/// This command and all commands below it.
std::vector<const DescribedCommand*> all_of(const DescribedCommand& command);

/// The completion script for that shell.
std::string bash_completion(const DescribedCommand& muster);
std::string zsh_completion(const DescribedCommand& muster);
std::string fish_completion(const DescribedCommand& muster);

/// The manual page of a command. If `whole` is true, it includes the commands below it.
std::string man_page(const DescribedCommand& command, const std::string& version, bool whole);

}  // namespace muster::apps
