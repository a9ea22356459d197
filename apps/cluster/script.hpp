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

/// What a demo does to its nodes, one step a line (docs/operating.md).

namespace muster::apps {

/// Some of the nodes, as of the moment of the step.
enum class Selector {
  coordinator,     ///< the coordinator in force; to `start` and `resume`: that was coordinator last
  lowest,          ///< of those that it can be done to
  highest_member,  ///< ... that are not the coordinator
  all,             ///< ... every one
};
using Chosen = std::variant<NodeId, Selector>;

enum class Verb { kill, start, pause, resume };
MUSTER_DESCRIBE_ENUM(Verb, kill, start, pause, resume)

/// `wait normal [within 10s]`: until every live node is Normal with one coordinator.
struct WaitNormal {
  std::optional<Duration> within;
};
/// `kill 3 4`, `pause coordinator for 700ms`.
struct Act {
  Verb verb{};
  std::vector<Chosen> nodes;
  std::optional<Duration> lasting;  ///< only of `pause`: it is resumed after that
};
/// `run 2s`.
struct Run {
  Duration time{};
};

struct ScriptStep {
  std::string place;  ///< "demo.script:4"
  std::string text;   ///< as it was written
  std::variant<WaitNormal, Act, Run> what;
};
using Script = std::vector<ScriptStep>;

/// Reads a script; `file` is its name in messages. Fails (exit 2) with place, line and what is
/// expected.
Expected<Script> parse_script(std::string_view text, const std::string& file);

/// The script of a demo that is told nothing: every fault that the Bully is made for, with
/// `timings`.
std::string default_script(const Timings& timings);

/// Makes the steps of a random run: faults of single nodes and of several, always the same for a
/// seed and a number of nodes, and at its end all nodes up.
class RandomScript {
 public:
  RandomScript(std::uint64_t seed, const NodeSet& nodes, const Timings& timings);

  /// The next steps: a fault or the end of one, and some time to work.
  Script next();

  /// Brings all nodes up again and waits.
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
