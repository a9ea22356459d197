#include "apps/muster/repair_option.hpp"

namespace muster::apps {

Expected<> read_repair(const std::string& text, Repairs& repairs) {
  const auto equals = text.find('=');
  const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
  bool known = false;
  for_each_field(repairs, [&](const char* name, bool& on) {
    if (text.substr(0, equals) != name) return;
    known = value == "on" || value == "off";
    on = value == "on";
  });
  if (known) return {};
  return Failure{ExitCode::usage, "--repair is NAME=on or NAME=off, not '" + text +
                                      "'; docs/decisions/switches.md has the names"};
}

}  // namespace muster::apps
