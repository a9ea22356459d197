#include <muster/protocol/cluster_text.hpp>

#include <muster/values/text.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace muster {

using namespace std::chrono_literals;

namespace {

template <class Repairs>
void add_switches(ClusterLines& lines, const Repairs& repairs) {
  for_each_field(repairs, [&](const char* name, bool value) {
    lines[std::string("repairs.") + name] = to_text(value);
  });
}

}  // namespace

std::string format_duration(Duration duration) {
  constexpr std::pair<Duration, const char*> units[] = {
      {1min, "min"}, {1s, "s"}, {1ms, "ms"}, {1us, "us"}, {1ns, "ns"}};
  const auto* const unit = std::find_if(std::begin(units), std::end(units), [&](const auto& each) {
    return duration >= each.first && duration % each.first == 0ns;
  });
  const auto& [length, name] = unit == std::end(units) ? units[4] : *unit;
  return std::to_string(duration / length) + name;
}

ClusterLines option_lines(const Options& options) {
  std::string preempt = to_text(options.preempt);
  if (options.preempt == Preempt::after) preempt += ' ' + format_duration(options.preempt_after);
  return {{"preempt", preempt},
          {"clock_drift", std::to_string(options.clock_drift.millionths) + "ppm"},
          {"quorum", to_text(options.quorum)},
          {"resume", to_text(options.resume)},
          {"settle", format_duration(options.settle)}};
}

ClusterLines chosen_options(const Options& options) {
  ClusterLines chosen = option_lines(options);
  const ClusterLines usual = option_lines({});
  std::erase_if(chosen,
                [&](const auto& option) { return usual.at(option.first) == option.second; });
  return chosen;
}

ClusterLines cluster_lines(const ProtocolConfig& config) {
  ClusterLines lines{{"protocol", to_text(config.protocol)},
                     {"literal", to_text(config.literal())}};
  for_each_field(config.timings,
                 [&](const char* name, Duration length) { lines[name] = format_duration(length); });
  for (NodeId node : config.nodes) lines["nodes." + to_text(node)] = "configured";
  for (const auto& [node, score] : config.importance)
    lines["importance." + to_text(node)] = std::to_string(score);
  if (config.protocol == ProtocolName::bully) add_switches(lines, config.repairs);
  // Versions that are older than this switch do not have it in their texts. So the default is not
  // written: otherwise the texts would differ.
  if (config.repairs.left_behind != config.literal()) lines.erase("repairs.left_behind");
  if (config.protocol == ProtocolName::invitation) add_switches(lines, config.invitation_repairs);
  lines.merge(chosen_options(config.options));
  return lines;
}

std::string cluster_text(const ClusterLines& lines) {
  std::string text;
  for (const auto& [key, value] : lines) text += key + '=' + value + '\n';
  return text;
}

}  // namespace muster
