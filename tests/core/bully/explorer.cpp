#include "explorer.hpp"

#include <algorithm>
#include <random>

namespace muster::test {

namespace {

using Commands = std::vector<Command>;

// What may happen next; a command that occurs more than once is likelier.
class Chance {
 public:
  Chance(std::uint64_t seed, Wildness left) : random_(seed), left_(std::move(left)) {}

  std::optional<Command> next(const World& world) {
    choices_.clear();
    for (std::uint32_t i = 1; i <= world.size(); ++i) {
      offer_life(world, i);
      if (!world[i].up || world[i].paused) continue;
      offer_peers(world, i);
      offer_own(world, i);
    }
    if (choices_.empty()) return std::nullopt;
    Command chosen = choices_[random_() % choices_.size()];
    if (chosen.verb == "fail") --left_.failures;
    if (chosen.verb == "pause") --left_.pauses;
    if (chosen.verb == "leave") --left_.leaves;
    if (chosen.verb == "fail_hook") --left_.failed_hooks;
    if (chosen.verb == "expire") --left_.expiries;
    if (chosen.verb == "fail" && random_() % 4 == 0)
      chosen = {"fail_after", chosen.node, 0, std::to_string(1 + random_() % 6)};
    return chosen;
  }

 private:
  void offer(unsigned weight, Command command) { choices_.insert(choices_.end(), weight, command); }

  void offer_life(const World& world, std::uint32_t i) {
    if (!world[i].up) {
      offer(2, {"recover", i, 0, ""});
    } else if (world[i].paused) {
      offer(2, {"resume", i, 0, ""});
    } else {
      if (left_.failures > 0) offer(1, {"fail", i, 0, random_() % 4 == 0 ? "silent" : ""});
      if (left_.pauses > 0) offer(1, {"pause", i, 0, ""});
      if (left_.leaves > 0 && !world[i].state.leaving) offer(1, {"leave", i, 0, ""});
    }
  }

  void offer_peers(const World& world, std::uint32_t i) {
    const TestNode& node = world[i];
    for (std::uint32_t j = 1; j <= world.size(); ++j) {
      if (j == i) continue;
      const auto peer = node.peers.find(NodeId{j});
      if (peer != node.peers.end() && !peer->second.incoming.empty()) {
        offer(8, {"deliver", j, i, ""});
        if (!world[j].up && std::holds_alternative<Letter>(peer->second.incoming.back().item))
          offer(1, {"lose", j, i, ""});
      }
      if (i < j && world[j].up && !world[j].paused &&
          (peer == node.peers.end() || peer->second.hello != world[j].safe.incarnation))
        offer(6, {"connect", i, j, ""});
      World copy = world;
      if (copy.refuse(i, j)) offer(3, {"refuse", i, j, ""});
      if (copy.silence(i, j)) offer(2, {"silence", i, j, ""});
    }
  }

  void offer_own(const World& world, std::uint32_t i) {
    const TestNode& node = world[i];
    const TestApplication& application = node.application;
    if (application.running || application.stopping) {
      offer(4, {"end_hook", i, 0, ""});
      if (application.running && application.running->cancelled)
        offer(2, {"end_hook_late", i, 0, ""});
      else if (left_.failed_hooks > 0 && application.running)
        offer(2, {"fail_hook", i, 0, ""});
    }
    if (left_.expiries == 0) return;
    if (node.timers.contains(Timer::check)) offer(1, {"expire", i, 0, "check"});
    if (node.timers.contains(Timer::coordinator)) offer(1, {"expire", i, 0, "coordinator"});
    if (node.timers.contains(Timer::retry)) offer(2, {"expire", i, 0, "retry"});
  }

  std::mt19937_64 random_;
  Wildness left_;
  Commands choices_;
};

// Failures cease: everybody is up, prompt and well from here on.
std::optional<std::string> come_to_rest(World& world, const Wildness& wildness) {
  world.inject.reset();
  const auto rest = [&](const char* when) -> std::optional<std::string> {
    const Duration peace = world.now;
    if (world.settle(300)) {
      const Duration bound = settling_bound(world[1].config);
      if (world.settled_at - peace <= bound) return std::nullopt;
      return std::string("assertion 2 is reached too late ") + when;
    }
    if (!wildness.must_settle) return std::nullopt;
    return std::string("assertion 2 is not reached ") + when;
  };
  for (std::uint32_t i = 1; i <= world.size(); ++i) world.resume(i);
  for (std::uint32_t i = 1; i <= world.size(); ++i) {
    if (auto late = rest("with some nodes down")) return late;
    world.recover(i);
  }
  return rest("with all nodes up");
}

// The kind of a finding, by which reduction knows it again: the sentence without its numbers.
std::string kind(const std::string& what) {
  std::string words = what.substr(0, what.find('\n'));
  std::erase_if(words, [](char c) { return c >= '0' && c <= '9'; });
  return words;
}

}  // namespace

std::optional<Finding> explore(std::uint64_t seed, const Wildness& wildness) {
  Finding finding;
  World world(wildness.nodes, wildness.repairs);
  world.record = false;
  Chance chance(seed, wildness);
  try {
    for (unsigned step = 0; step < wildness.steps; ++step) {
      const auto command = chance.next(world);
      if (!command) break;
      finding.script.push_back(*command);
      run(world, *command);
    }
    if (auto what = come_to_rest(world, wildness)) {
      finding.what = *what;
      return finding;
    }
  } catch (const Violation& violation) {
    finding.what = violation.what();
    return finding;
  }
  return std::nullopt;
}

std::optional<std::string> replay(const Commands& script, const Wildness& wildness) {
  World world(wildness.nodes, wildness.repairs);
  world.record = false;
  try {
    for (const Command& command : script) run(world, command);
    return come_to_rest(world, wildness);
  } catch (const Violation& violation) {
    return violation.what();
  }
}

Finding reduce(Finding finding, const Wildness& wildness) {
  const std::string sought = kind(finding.what);
  for (std::size_t chunk = finding.script.size(); chunk > 0; chunk /= 2) {
    for (bool shorter = true; shorter;) {
      shorter = false;
      for (std::size_t from = 0; from < finding.script.size();) {
        Commands without = finding.script;
        const auto begin = without.begin() + static_cast<std::ptrdiff_t>(from);
        const auto count = std::min(chunk, without.size() - from);
        without.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
        const auto what = replay(without, wildness);
        if (what && kind(*what) == sought) {
          finding = {*what, std::move(without)};
          shorter = true;
        } else {
          from += chunk;
        }
      }
    }
  }
  return finding;
}

std::string to_text(const Finding& finding, const Wildness& wildness) {
  std::string text = finding.what + "\n--- script\n";
  for (const Command& command : finding.script) text += to_line(command) + '\n';
  World world(wildness.nodes, wildness.repairs);
  try {
    for (const Command& command : finding.script) {
      world.say("# " + to_line(command));
      run(world, command);
    }
    world.say("# and then failures cease");
    come_to_rest(world, wildness);
  } catch (const Violation&) {
  }
  text += "--- journal\n";
  const std::vector<std::string>& lines = world.journal();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i >= 100 && i + 40 < lines.size()) continue;  // a long rest says nothing new
    text += lines[i] + '\n';
  }
  return text;
}

}  // namespace muster::test
