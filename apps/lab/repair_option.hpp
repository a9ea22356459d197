#pragma once

#include "apps/muster/config/config.hpp"

#include <muster/protocol/misfit.hpp>
#include <muster/values/failure.hpp>

#include <algorithm>
#include <string>

/// `--repair` and `--option` of the commands of the lab.

namespace muster::apps {

/// Calls `visit(name, value)` for each switch of the world's protocol. The textbook protocol has
/// none.
template <class World, class Visit>
void for_each_switch(World& world, const Visit& visit) {
  if (world.protocol == ProtocolName::bully) for_each_field(world.repairs, visit);
  if (world.protocol == ProtocolName::invitation) for_each_field(world.invitation_repairs, visit);
}

/// Turns one switch of a world's protocol on or off. `text` is NAME=on or NAME=off; else a usage
/// error.
template <class World>
Expected<> read_repair(const std::string& text, World& world) {
  const auto equals = text.find('=');
  const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
  std::string asked = text.substr(0, equals);
  std::replace(asked.begin(), asked.end(), '-', '_');  // --strike also accepts both
  bool known = false;
  std::string names;
  for_each_switch(world, [&](const char* name, bool& on) {
    names += (names.empty() ? "" : ", ") + std::string(name);
    if (asked != name) return;
    known = value == "on" || value == "off";
    on = value == "on";
  });
  if (known) return {};
  if (names.empty())
    return Failure{ExitCode::usage, "--repair " + text + ": this protocol has no switches"};
  if (value == "on" || value == "off")
    return Failure{ExitCode::usage, "--repair " + text + ": this protocol has no switch of that " +
                                        "name; its switches are " + names};
  return Failure{ExitCode::usage, "--repair: expected NAME=on or NAME=off, not '" + text +
                                      "'; the names are " + names};
}

/// Sets one option of the Bully. `text` is NAME=VALUE; else a usage error.
inline Expected<> read_option(const std::string& text, ProtocolName protocol, Options& options) {
  const auto equals = std::min(text.find('='), text.size());
  const std::string value = equals < text.size() ? text.substr(equals + 1) : "";
  if (protocol != ProtocolName::bully)
    return Failure{ExitCode::usage,
                   "--option " + text + " belongs to the Bully: add --protocol bully"};
  if (const auto expected = read_option(text.substr(0, equals), value, options))
    return Failure{ExitCode::usage, "--option " + text + ": expected " + *expected +
                                        " (docs/explanation/options.md)"};
  if (const auto apart = misfit(options))
    return Failure{ExitCode::usage, "--option " + apart->key + ": expected " + apart->expected};
  return {};
}

}  // namespace muster::apps
