#pragma once

#include <muster/application.hpp>

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// The instructions to an application of this suite, whatever its style, and the record of its
/// calls.

namespace muster::test {

/// The act of a hook.
enum class Act {
  usual,  ///< ends well
  throws,
  drops,  ///< the hook drops its Done, if the style has one
  large,  ///< the hook returns one byte more than the limit
  waits,  ///< the hook waits until it is cancelled, and then ends well, but too late
};

/// One call of a hook.
struct Call {
  NodeId node;
  unsigned life{};  ///< number of the node's application, counted from 1
  Hook hook{};
  std::optional<GroupNumber> group;
  Members members;        ///< of a `reorganize`
  Definition definition;  ///< of a `start`
  bool beside_another = false;
  bool held_valid_permit = false;  ///< at the beginning of the hook
};

inline constexpr std::size_t size_limit = 32 * 1024;  // the default
inline constexpr const char* thrown = "no more chalk";

/// The behaviour of each hook, and the calls of hooks so far. Threads may share a Script. It calls
/// `called` after each call of a hook.
class Script {
 public:
  explicit Script(std::function<void()> called) : called_(std::move(called)) {}

  /// Sets the act of the next `times` calls. After that the hook acts as usual.
  void tell(NodeId node, Hook hook, Act act, int times = 1) {
    const std::lock_guard lock(mutex_);
    told_[{node, hook}] = {act, times};
  }

  /// The node has made a new application. Returns the number of that application, counted from 1.
  unsigned made(NodeId node) {
    const std::lock_guard lock(mutex_);
    return ++lives_[node];
  }

  Act begins(Call call) {
    Act act = Act::usual;
    {
      const std::lock_guard lock(mutex_);
      const auto permit = permits_.find({call.node, call.life});
      call.held_valid_permit = permit != permits_.end() && permit->second.valid();
      if (call.hook == Hook::stop && permit != permits_.end()) permits_.erase(permit);
      call.beside_another = running_[{call.node, call.life}]++ > 0;
      if (auto& told = told_[{call.node, call.hook}]; told.second > 0) {
        --told.second;
        act = told.first;
      }
      calls_.push_back(std::move(call));
    }
    called_();
    return act;
  }
  void ends(NodeId node, unsigned life) {
    const std::lock_guard lock(mutex_);
    --running_[{node, life}];
  }
  /// Keeps a permit until the next `stop` of that life begins, or until the life is over.
  void keep(NodeId node, unsigned life, std::optional<Permit> permit) {
    const std::lock_guard lock(mutex_);
    if (!permit) return;
    ++kept_;
    permits_.insert_or_assign({node, life}, std::move(*permit));
  }
  void is_over(NodeId node, unsigned life) {
    const std::lock_guard lock(mutex_);
    permits_.erase({node, life});
  }

  [[nodiscard]] std::vector<Call> calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  [[nodiscard]] std::size_t count(NodeId node, Hook hook) const {
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (const Call& call : calls_) count += call.node == node && call.hook == hook ? 1 : 0;
    return count;
  }
  [[nodiscard]] int permits_kept() const {
    const std::lock_guard lock(mutex_);
    return kept_;
  }

 private:
  std::function<void()> called_;
  mutable std::mutex mutex_;  // guards all members below
  std::map<std::pair<NodeId, Hook>, std::pair<Act, int>> told_;
  std::map<NodeId, unsigned> lives_;
  std::map<std::pair<NodeId, unsigned>, int> running_;
  std::map<std::pair<NodeId, unsigned>, Permit> permits_;
  std::vector<Call> calls_;
  int kept_ = 0;
};

/// The bytes that applications of the suite return. They contain every value of a byte.
inline std::string all_bytes() {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  return all;
}
inline std::string report_of(NodeId node) {
  return "report of " + std::to_string(node.value) + all_bytes();
}
inline std::string definition_of(const GroupNumber& group) {
  return "task of " + std::to_string(group.counter) + '.' +
         std::to_string(group.coordinator.value) + all_bytes();
}
/// The definition of a `reorganize` that ends too late.
inline constexpr const char* late_definition = "the plan of another time";

/// The common part of all styles: one life of a node that plays its script.
class Player {
 public:
  Player(Script& script, Services& services)
      : script_(script),
        services_(services),
        self_(services.self()),
        life_(script.made(services.self())) {}
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;
  ~Player() { script_.is_over(self_, life_); }

  Act stop(const StopContext& context) { return begins(Hook::stop, context.group); }
  Act reorganize(const Reorganization& all) {
    return begins(Hook::reorganize, all.group, all.members);
  }
  Act start(const Assignment& assignment) {
    const Act act = begins(Hook::start, assignment.group, {}, assignment.definition);
    script_.keep(self_, life_, services_.permits().try_acquire());
    return act;
  }
  void ends() { script_.ends(self(), life_); }

  /// The results of a `stop` and of a `reorganize`.
  [[nodiscard]] std::string report(Act act) const {
    return act == Act::large ? std::string(size_limit + 1, 'r') : report_of(self());
  }
  [[nodiscard]] static std::string definition(Act act, const GroupNumber& group) {
    return act == Act::large   ? std::string(size_limit + 1, 'd')
           : act == Act::waits ? late_definition
                               : definition_of(group);
  }

  [[nodiscard]] NodeId self() const { return self_; }
  [[nodiscard]] Services& services() const { return services_; }

 private:
  Act begins(Hook hook, std::optional<GroupNumber> group, Members members = {},
             Definition definition = {}) {
    return script_.begins({self(), life_, hook, group, std::move(members), std::move(definition)});
  }

  Script& script_;
  Services& services_;
  NodeId self_;
  unsigned life_;
};

/// Records the end of the hook, however it ends.
struct Ends {
  ~Ends() { player.ends(); }
  Player& player;
};

}  // namespace muster::test
