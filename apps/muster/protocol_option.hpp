#pragma once

#include <CLI/CLI.hpp>
#include <muster/kinds.hpp>

#include <string>

namespace muster::apps {

/// `--protocol`, for commands that run real nodes and see whether they come together. `to` has to
/// live as long as the command.
inline void add_protocol(CLI::App& command, ProtocolName& to) {
  command
      .add_option_function<std::string>(
          "--protocol",
          [&to](const std::string& name) { to = enumerator_named<ProtocolName>(name).value(); },
          "bully or invitation (bully)")
      ->check(CLI::IsMember({"bully", "invitation"}));
}

}  // namespace muster::apps
