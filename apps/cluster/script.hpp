#pragma once

#include <muster/protocol/timings.hpp>
#include <muster/values/failure.hpp>
#include <muster/values/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The script of a demo: what is done to its nodes, one step a line (docs/how-to/demo.md).

namespace muster::apps {

/// Selects nodes at the moment of the step.
enum class Selector {
  coordinator,     ///< the present coordinator; for `start` and `resume`: the last one
  lowest,          ///< the lowest node that the verb can apply to
  highest_member,  ///< the highest node that is not the coordinator
  all,             ///< all nodes that the verb can apply to
};
using Chosen = std::variant<NodeId, Selector>;

enum class Verb { kill, start, pause, resume };
MUSTER_DESCRIBE_ENUM(Verb, kill, start, pause, resume)

/// `wait normal [within 10s]`: waits until every live node is Normal with one coordinator.
struct WaitNormal {
  std::optional<Duration> within;
};
/// A fault or its end, such as `kill 3 4` or `pause coordinator for 700ms`.
struct Act {
  Verb verb{};
  std::vector<Chosen> nodes;
  std::optional<Duration> lasting;  ///< for `pause` only: time until the node is resumed
};
/// `run 2s`.
struct Run {
  Duration time{};
};

struct ScriptStep {
  std::string place;  ///< "demo.script:4"
  std::string text;   ///< as written in the script
  std::variant<WaitNormal, Act, Run> what;
};
using Script = std::vector<ScriptStep>;

/// Parses a script. `file` is the script's name in messages. A failure names the place, the line
/// and what is expected there; it is a usage error.
Expected<Script> parse_script(std::string_view text, const std::string& file);

/// The script of a demo without a script of its own. It has every kind of fault that the Bully is
/// made for. Its pause is long enough for `timings`.
std::string default_script(const Timings& timings);

/// Makes the steps of a random run, with faults of one node and of several. The steps depend only
/// on the seed and the number of nodes. At the end all nodes are up.
class RandomScript {
 public:
  RandomScript(std::uint64_t seed, const NodeSet& nodes, const Timings& timings);

  /// The next steps: a fault, or the end of a fault, and then some time in which the nodes can
  /// work.
  Script next();

  /// Steps that start all nodes again and wait until they are Normal.
  [[nodiscard]] Script end() const;

 private:
  std::uint64_t below(std::uint64_t bound);
  NodeId any(const NodeSet& of);
  [[nodiscard]] ScriptStep step(const std::string& text) const;

  std::uint64_t state_;
  NodeSet live_;
  NodeSet down_;
  Timings timings_;
  std::uint64_t made_ = 0;
};

}  // namespace muster::apps
