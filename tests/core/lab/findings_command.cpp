#include "findings.hpp"

#include <muster/protocol/cluster_text.hpp>
#include <muster/values/text.hpp>

#include <algorithm>

namespace muster::lab::findings {

namespace {

std::string joined(const NodeSet& nodes) {
  std::string list;
  for (const NodeId node : nodes) list += (list.empty() ? "" : ",") + to_text(node);
  return list;
}

}  // namespace

std::string command_of(const Bounds& bounds) {
  const auto number = [](std::optional<unsigned> count, const char* none) {
    return count ? std::to_string(*count) : none;
  };
  const bool invites = bounds.protocol == ProtocolName::invitation;
  std::string command = std::string("muster check ") + (invites ? "--protocol invitation " : "") +
                        "--nodes " + std::to_string(bounds.nodes) + " --failures " +
                        number(bounds.failures, "unbounded") + " --queue " +
                        std::to_string(bounds.queue);
  if (bounds.wrong_timeouts != 0u) command += " --timeouts " + number(bounds.wrong_timeouts, "any");
  if (bounds.channels != Channels::session) command += " --channels " + to_text(bounds.channels);
  if (bounds.hooks != Hooks::prompt) command += " --hooks " + to_text(bounds.hooks);
  if (bounds.hooks == Hooks::failing)
    command += " --failed-hooks " + std::to_string(bounds.failed_hooks);
  if (bounds.ticks) command += " --ticks " + std::to_string(*bounds.ticks);
  if (bounds.losses > 0) command += " --losses " + std::to_string(bounds.losses);
  if (bounds.duplicates > 0) command += " --duplicates " + std::to_string(bounds.duplicates);
  if (bounds.leaves > 0) command += " --leaves " + std::to_string(bounds.leaves);
  if (bounds.differences > 0) command += " --differences " + std::to_string(bounds.differences);
  if (bounds.restores > 0) command += " --restores " + std::to_string(bounds.restores);
  if (bounds.pauses > 0) command += " --pauses " + std::to_string(bounds.pauses);
  for (const std::string& assertion : bounds.assertions) command += " --assertion " + assertion;
  if (bounds.options.quorum == Quorum::majority) command += " --option quorum=majority";
  if (bounds.options.calm > Duration::zero())
    command += " --option calm=" + format_duration(bounds.options.calm);
  if (bounds.start.size() == bounds.nodes)
    command += " --start normal";
  else if (!bounds.start.empty())
    command += " --start " + joined(bounds.start);
  for (const auto& [i, j] : bounds.cuts) command += " --cut " + to_text(i) + '-' + to_text(j);
  if (bounds.slow_restart) command += " --slow-restart";
  if (bounds.split_actions) command += " --split-actions";
  if (bounds.liveness) command += " --liveness";
  if (bounds.limit_states > 0) command += " --limit-states " + std::to_string(bounds.limit_states);
  const auto add_switches = [&](const auto& switches) {
    auto usual = switches;
    usual = {};
    const bool literal = !switches.back_off;
    if (literal) usual = switches.none();
    if (literal) command += " --literal";
    std::vector<bool> as_usual;
    for_each_field(usual, [&](const char*, bool on) { as_usual.push_back(on); });
    std::size_t i = 0;
    for_each_field(switches, [&](const char* name, bool on) {
      if (as_usual[i++] != on) command += " --repair " + std::string(name) + (on ? "=on" : "=off");
    });
  };
  if (invites)
    add_switches(bounds.invitation_repairs);
  else
    add_switches(bounds.repairs);
  for (const Line line : bounds.struck) {
    std::string name = to_text(line);
    std::replace(name.begin(), name.end(), '_', '-');
    command += " --strike " + name;
  }
  return command;
}

}  // namespace muster::lab::findings
