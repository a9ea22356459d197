#include "explorer.hpp"

#include <muster/values/kinds.hpp>

#include <algorithm>
#include <random>
#include <utility>

namespace muster::test {

namespace {

using Commands = std::vector<Command>;

// What may happen next. Every run has likings of its own, so that some runs are rash where others
// are slow.
class Chance {
 public:
  Chance(std::uint64_t seed, Wildness left) : random_(seed), left_(std::move(left)) {
    for (unsigned* weight : {&deliver_, &connect_, &prove_, &hook_, &expire_})
      *weight = one_of({1, 3, 9});
    for (unsigned* weight : {&recover_, &trouble_}) *weight = one_of({1, 2, 6});
    left_.steps = static_cast<unsigned>(10 + random_() % left_.steps);
  }

  std::optional<Command> next(const World& world) {
    if (left_.steps == 0) return std::nullopt;
    --left_.steps;
    choices_.clear();
    for (std::uint32_t i = 1; i <= world.size(); ++i) {
      offer_life(world, i);
      if (!world[i].up || world[i].paused) continue;
      offer_peers(world, i);
      offer_own(world, i);
    }
    if (choices_.empty()) return std::nullopt;
    Command chosen = choose();
    if (chosen.verb == "fail") --left_.failures;
    if (chosen.verb == "pause") --left_.pauses;
    if (chosen.verb == "leave") --left_.leaves;
    if (chosen.verb == "fail_hook") --left_.failed_hooks;
    if (chosen.verb == "expire") --left_.expiries;
    if (chosen.verb == "fail" && random_() % 3 == 0)
      chosen = {"fail_after", chosen.node, 0, std::to_string(1 + random_() % 6)};
    return chosen;
  }

 private:
  unsigned one_of(std::initializer_list<unsigned> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random_() % values.size()));
  }
  void offer(unsigned weight, Command command) {
    choices_.emplace_back(weight, std::move(command));
  }

  Command choose() {
    std::uint64_t all = 0;
    for (const auto& [weight, command] : choices_) all += weight;
    std::uint64_t drawn = random_() % all;
    for (const auto& [weight, command] : choices_) {
      if (drawn < weight) return command;
      drawn -= weight;
    }
    return choices_.back().second;
  }

  void offer_life(const World& world, std::uint32_t i) {
    if (!world[i].up) {
      offer(recover_, {"recover", i, 0, ""});
    } else if (world[i].paused) {
      offer(recover_, {"resume", i, 0, ""});
    } else {
      if (left_.failures > 0) offer(trouble_, {"fail", i, 0, random_() % 4 == 0 ? "silent" : ""});
      if (left_.pauses > 0) offer(trouble_, {"pause", i, 0, ""});
      if (left_.leaves > 0 && !world[i].state.leaving) offer(trouble_, {"leave", i, 0, ""});
    }
  }

  void offer_peers(const World& world, std::uint32_t i) {
    const TestNode& node = world[i];
    for (std::uint32_t j = 1; j <= world.size(); ++j) {
      if (j == i) continue;
      const auto peer = node.peers.find(NodeId{j});
      if (peer != node.peers.end() && !peer->second.incoming.empty()) {
        offer(2 * deliver_, {"deliver", j, i, ""});
        if (!world[j].up && std::holds_alternative<Letter>(peer->second.incoming.back().item))
          offer(1, {"lose", j, i, ""});
      }
      if (i < j && world[j].up && !world[j].paused &&
          (peer == node.peers.end() || peer->second.hello != world[j].safe.incarnation))
        offer(connect_, {"connect", i, j, ""});
      if (world.would_refuse(i, j)) offer(prove_, {"refuse", i, j, ""});
      if (world.would_be_silent(i, j)) offer(prove_, {"silence", i, j, ""});
    }
  }

  void offer_own(const World& world, std::uint32_t i) {
    const TestNode& node = world[i];
    const TestApplication& application = node.application;
    if (application.running || application.stopping) {
      offer(hook_, {"end_hook", i, 0, ""});
      if (application.running && application.running->cancelled)
        offer(hook_, {"end_hook_late", i, 0, ""});
      else if (left_.failed_hooks > 0 && application.running)
        offer(hook_, {"fail_hook", i, 0, ""});
    }
    if (left_.expiries == 0) return;
    for (const auto& [timer, due] : node.timers)
      offer(expire_, {"expire", i, 0, std::string(enumerator_name(timer))});
  }

  std::mt19937_64 random_;
  Wildness left_;
  unsigned deliver_ = 1, connect_ = 1, prove_ = 1, hook_ = 1, expire_ = 1, recover_ = 1,
           trouble_ = 1;
  std::vector<std::pair<unsigned, Command>> choices_;
};

// The kind of a finding, by which reduction knows it again: the sentence without its numbers.
std::string kind(const std::string& what) {
  std::string words = what.substr(0, what.find('\n'));
  std::erase_if(words, [](char c) { return c >= '0' && c <= '9'; });
  return words;
}

}  // namespace

std::optional<std::string> come_to_rest(World& world, bool must_settle, Return back) {
  world.inject.reset();
  const auto rest = [&](const char* when) -> std::optional<std::string> {
    const Duration peace = world.now;
    if (world.settle(300)) {
      const Duration bound = settling_bound(world[1].config);
      if (world.settled_at - peace <= bound) return std::nullopt;
      return std::string("assertion 2 is reached too late ") + when;
    }
    if (!must_settle) return std::nullopt;
    return std::string("assertion 2 is not reached ") + when;
  };
  for (std::uint32_t i = 1; i <= world.size(); ++i) world.resume(i);
  for (std::uint32_t i = 1; i <= world.size(); ++i) {
    if (back == Return::one_by_one)
      if (auto late = rest("with some nodes down")) return late;
    world.recover(i);
  }
  return rest("with all nodes up");
}

std::optional<Finding> explore(std::uint64_t seed, const Wildness& wildness) {
  Finding finding;
  World world(wildness.nodes, wildness.repairs);
  world.record = false;
  Chance chance(seed, wildness);
  try {
    while (const auto command = chance.next(world)) {
      finding.script.push_back(*command);
      run(world, *command);
    }
    if (auto what = come_to_rest(world, wildness.must_settle)) {
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
    return come_to_rest(world, wildness.must_settle);
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
    come_to_rest(world, wildness.must_settle);
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
