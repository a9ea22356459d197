#pragma once

#include <CLI/CLI.hpp>
#include <muster/detail/values/kinds.hpp>
#include <muster/protocol/config.hpp>

#include <string>
#include <vector>

namespace muster::apps {

/// Adds the option `--protocol`, with one of `names` as its value. The first name is the default:
/// `to` must contain it before the call. `to` must outlive the command.
inline void add_protocol(CLI::App& command, ProtocolName& to,
                         const std::vector<std::string>& names) {
  std::string list = names.front();
  for (std::size_t at = 1; at < names.size(); ++at)
    list += (at + 1 == names.size() ? " or " : ", ") + names[at];
  command
      .add_option_function<std::string>(
          "--protocol",
          [&to](const std::string& name) { to = enumerator_named<ProtocolName>(name).value(); },
          list + " (" + names.front() + ')')
      ->check(CLI::IsMember(names));
}

inline const std::vector<std::string> every_protocol = {"bully", "invitation", "textbook"};

/// The protocols that form groups again by themselves after any fault of real nodes.
inline const std::vector<std::string> healing_protocols = {"bully", "invitation"};

}  // namespace muster::apps
