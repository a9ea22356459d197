#pragma once

#include "apps/muster/config.hpp"

#include <muster/failure.hpp>

#include <string>

/// `--repair` of the commands of the lab.

namespace muster::apps {

/// Turns one switch of the cluster's protocol on or off, as NAME=on|off says; a usage error where
/// it does not.
template <class Cluster>
Expected<> read_repair(const std::string& text, Cluster& cluster) {
  const auto equals = text.find('=');
  const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
  bool known = false;
  for_each_switch(cluster, [&](const char* name, bool& on) {
    if (text.substr(0, equals) != name) return;
    known = value == "on" || value == "off";
    on = value == "on";
  });
  if (known) return {};
  return Failure{ExitCode::usage, "--repair is NAME=on or NAME=off, not '" + text +
                                      "'; docs/decisions has the names of each protocol"};
}

}  // namespace muster::apps
