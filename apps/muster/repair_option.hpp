#pragma once

#include <muster/failure.hpp>
#include <muster/types.hpp>

#include <string>

/// `--repair` of the commands of the lab.

namespace muster::apps {

/// Turns one switch of docs/decisions/switches.md on or off, as NAME=on|off says; a usage error
/// else.
Expected<> read_repair(const std::string& text, Repairs& repairs);

}  // namespace muster::apps
