#include <muster/protocol/cluster_text.hpp>
#include <muster/protocol/misfit.hpp>
#include <muster/values/address.hpp>
#include <muster/values/text.hpp>

namespace muster {

namespace {

constexpr Duration shortest_T = std::chrono::milliseconds(1);

std::string ids_of(const NodeSet& nodes) {
  std::string text;
  for (NodeId node : nodes) text += (text.empty() ? "" : " ") + to_text(node);
  return text;
}

std::optional<Misfit> misfit_of_nodes(const ProtocolConfig& config) {
  const NodeSet& nodes = config.nodes;
  if (nodes.empty()) return Misfit{"nodes", "at least one"};
  if (nodes.size() > most_nodes)
    return Misfit{"nodes", "at most " + std::to_string(most_nodes) + " nodes, not " +
                               std::to_string(nodes.size())};
  if (nodes.contains({})) return Misfit{"nodes", "ids from 1 on, not 0"};
  if (!nodes.contains(config.self))
    return Misfit{"id", "one of the ids of the nodes: " + ids_of(nodes)};
  return std::nullopt;
}

// Combinations of switches that are refused on real nodes.
std::optional<Misfit> misfit_of_repairs(const ProtocolConfig& config) {
  if (!config.repairs.safe())
    return Misfit{
        "report_refusals",
        "true, or stop_beside_halts = false: unless refusals are reported, a node must answer "
        "a Halt only when its application has stopped (docs/findings.md, V9)"};
  if (!config.invitation_repairs.safe())
    return Misfit{"safe_counter",
                  "true: a node that counts from 0 again gives a new group an old number, and "
                  "Assertion 3b fails (docs/findings.md, I4)"};
  return std::nullopt;
}

std::optional<Misfit> misfit_of_options(const ProtocolConfig& config) {
  const Options& options = config.options;
  const Duration least = options.preempt == Preempt::after ? Duration(1) : Duration::zero();
  if (options.preempt_after < least || options.preempt_after > longest_time)
    return Misfit{"preempt_after", "from " + to_text(least) + " to " + to_text(longest_time)};
  if (options.settle < Duration::zero() || options.settle > longest_time)
    return Misfit{"settle", "from " + to_text(Duration::zero()) + " to " + to_text(longest_time)};
  if (options.calm < Duration::zero() || options.calm > longest_calm)
    return Misfit{"calm", "from " + to_text(Duration::zero()) + " to " + to_text(longest_calm)};
  if (options.calm > Duration::zero() && !config.can_be_calm())
    return Misfit{"calm", "\"0s\": only the Bully has this option, and only with every switch on"};
  if (auto together = misfit(options)) return together;
  if (options.quorum == Quorum::off && options.clock_drift != ClockDrift{})
    return Misfit{"clock_drift",
                  "left out, or quorum = \"majority\": only the grants of a quorum depend on it"};
  if (options.clock_drift.millionths > 100'000)
    return Misfit{"clock_drift", "at most \"100000ppm\", which is a tenth"};
  for (const auto& [name, text] : chosen_options(options)) {
    const std::string otherwise = option_lines({}).at(name);
    if (config.protocol != ProtocolName::bully)
      return Misfit{name, '"' + otherwise + "\": any other is an option of the Bully alone"};
    if (!config.repairs.allow_options())
      return Misfit{name,
                    '"' + otherwise +
                        "\", or literal = false: options were checked only with every switch on"};
  }
  return std::nullopt;
}

std::optional<Misfit> misfit_of_importance(const ProtocolConfig& config) {
  if (!config.importance.empty() && config.protocol != ProtocolName::textbook)
    return Misfit{
        "importance",
        "none: only the textbook protocol has it; in every other protocol the id is the priority"};
  for (const auto& [node, score] : config.importance)
    if (!config.nodes.contains(node))
      return Misfit{to_text(node), "one of the ids in [cluster.nodes]: " + ids_of(config.nodes)};
  return std::nullopt;
}

}  // namespace

std::optional<Misfit> misfit(const Options& options) {
  if (options.quorum == Quorum::off) return std::nullopt;
  for (const auto& [name, text] : chosen_options(options))
    if (name != "quorum" && name != "clock_drift")
      return Misfit{name,
                    '"' + option_lines({}).at(name) +
                        "\", or quorum = \"off\": the checker has not searched the two together"};
  return std::nullopt;
}

std::optional<Misfit> misfit(const Timings& timings) {
  std::optional<Misfit> nothing;
  for_each_field(timings, [&](const char* name, Duration length) {
    if (nothing) return;
    if (length <= Duration::zero()) nothing = {name, "longer than 0"};
    if (length > longest_time) nothing = {name, "at most " + to_text(longest_time)};
  });
  if (nothing) return nothing;
  if (timings.T < shortest_T) return Misfit{"T", "at least \"1ms\""};
  const Duration period = timings.check_every;
  if (timings.coordinator_timeout <= period)
    return Misfit{"coordinator_timeout",
                  "longer than check_every = " + to_text(period) +
                      ", best check_every + T = " + to_text(period + timings.T)};
  if (timings.coordinator_timeout < timings.T)
    return Misfit{"coordinator_timeout",
                  "at least T = " + to_text(timings.T) +
                      ": a coordinator that is slow within T would be suspected"};
  if (timings.reorganize_deadline < timings.T)
    return Misfit{"reorganize_deadline", "at least T = " + to_text(timings.T) +
                                             ": a question to a member may take that long"};
  return std::nullopt;
}

std::optional<Misfit> misfit(const ProtocolConfig& config) {
  if (auto wrong = misfit(config.timings)) return wrong;
  for (const auto part :
       {misfit_of_nodes, misfit_of_repairs, misfit_of_options, misfit_of_importance})
    if (auto wrong = part(config)) return wrong;
  return std::nullopt;
}

std::optional<Misfit> misfit(const SafeState& safe) {
  constexpr std::uint64_t most = highest_number - most_lives_ahead;
  const auto too_high = [](const char* key, std::uint64_t number) {
    return Misfit{key, "at most " + std::to_string(most) + ", but it is " + std::to_string(number) +
                           ": no numbers are left for later groups and lives; start a new cluster, "
                           "with another name and empty stores"};
  };
  if (safe.incarnation.value > most) return too_high("incarnation", safe.incarnation.value);
  if (safe.counter_limit > most) return too_high("counter_limit", safe.counter_limit);
  return std::nullopt;
}

std::optional<Misfit> misfit(const std::map<NodeId, std::string>& addresses, const NodeSet& nodes,
                             bool insecure) {
  for (NodeId node : nodes)
    if (!addresses.contains(node))
      return Misfit{to_text(node), "an address, because every node needs one"};
  std::map<std::string, NodeId> taken;
  for (const auto& [node, text] : addresses) {
    const std::string key = to_text(node);
    if (!nodes.contains(node)) return Misfit{key, "left out: the nodes are " + ids_of(nodes)};
    const auto address = parse_address(text);
    if (!address || address->port == 0)
      return Misfit{key, "a host and a port from 1 to 65535, such as \"127.0.0.1:7101\""};
    if (const auto [other, fresh] = taken.emplace(text, node); !fresh)
      return Misfit{key, "an address of its own: node " + to_text(other->second) + " has this one"};
    if (!insecure && !address->is_loopback())
      return Misfit{key,
                    "a loopback address, or insecure = true, or TLS: without TLS, connections are "
                    "neither encrypted nor authenticated"};
  }
  return std::nullopt;
}

}  // namespace muster
