#include "explorer.hpp"

#include <muster/values/kinds.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <utility>

namespace muster::test::any {

namespace {

using Commands = std::vector<Command>;

/// What may happen next. Every run has likings of its own.
class Chance {
 public:
  Chance(std::uint64_t seed, Wildness left) : random_(seed), left_(std::move(left)) {
    for (unsigned* weight : {&deliver_, &hook_, &expire_}) *weight = one_of({2, 6, 18});
    for (unsigned* weight : {&recover_, &trouble_, &prove_}) *weight = one_of({1, 2, 6});
    left_.steps = static_cast<unsigned>(20 + random_() % left_.steps);
  }

  std::optional<Command> next(const World& world) {
    if (left_.steps == 0) return std::nullopt;
    --left_.steps;
    choices_.clear();
    for (std::uint32_t i = 1; i <= world.size(); ++i) offer_node(world, i);
    std::uint64_t all = 0;
    for (const auto& [weight, command, counter] : choices_) all += weight;
    std::uint64_t drawn = random_() % all;
    for (const auto& [weight, command, counter] : choices_) {
      if (drawn >= weight) {
        drawn -= weight;
        continue;
      }
      if (counter) --*counter;
      return command;
    }
    return std::nullopt;
  }

 private:
  struct Choice {
    unsigned weight;
    Command command;
    unsigned* counter;
  };

  unsigned one_of(std::initializer_list<unsigned> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random_() % values.size()));
  }
  void offer(unsigned weight, Command command, unsigned* counter = nullptr) {
    if (!counter || *counter > 0) choices_.push_back({weight, std::move(command), counter});
  }

  void offer_node(const World& world, std::uint32_t i) {
    const Node& node = world[i];
    if (!node.up) return offer(recover_, {"recover", i, 0, {}});
    if (node.paused) return offer(recover_, {"resume", i, 0, {}});
    offer(trouble_, {"fail", i, 0, {}}, &left_.failures);
    offer(trouble_, {"pause", i, 0, {}}, &left_.pauses);
    if (!common(node.protocol).leaving) offer(trouble_, {"leave", i, 0, {}}, &left_.leaves);
    if (node.app.running || node.app.stopping) offer(hook_, {"end_hook", i, 0, {}});
    if (node.app.running && node.app.running->hook != Hook::stop)
      offer(trouble_, {"fail_hook", i, 0, {}}, &left_.failed_hooks);
    for (const auto& [timer, due] : node.timers)
      offer(expire_, {"expire", i, 0, timer}, &left_.expiries);
    for (std::uint32_t j = 1; j <= world.size(); ++j) {
      if (j == i) continue;
      if (!world.between(j, i).empty()) {
        offer(2 * deliver_, {"deliver", j, i, {}});
        offer(trouble_, {"lose", j, i, {}}, &left_.losses);
      }
      const bool calls = std::any_of(node.calls.begin(), node.calls.end(), [&](const auto& call) {
        return call.second.letter.to.value == j;
      });
      const bool nothing_comes = world.between(i, j).empty() && world.between(j, i).empty();
      if (calls && nothing_comes)
        offer(expire_, {"give_up", i, j, {}});
      else if (calls)
        offer(trouble_, {"give_up", i, j, {}}, &left_.silences);
      if (!world[j].up || world[j].safe.incarnation.value > 1) offer(prove_, {"prove", i, j, {}});
      offer(1, {"cut", i, j, {}}, &left_.cuts);
      if (world.is_cut(i, j)) offer(1, {"heal", 0, 0, {}});
    }
  }

  std::mt19937_64 random_;
  Wildness left_;
  unsigned deliver_ = 1, hook_ = 1, expire_ = 1, recover_ = 1, trouble_ = 1, prove_ = 1;
  std::vector<Choice> choices_;
};

using Run = std::function<bool(World&, const Command&)>;

const std::map<std::string, Run, std::less<>>& verbs() {
  static const std::map<std::string, Run, std::less<>> table = {
      {"recover", [](World& w, const Command& c) { return w.recover(c.node); }},
      {"fail", [](World& w, const Command& c) { return w.fail(c.node); }},
      {"pause", [](World& w, const Command& c) { return w.pause(c.node); }},
      {"resume", [](World& w, const Command& c) { return w.resume(c.node); }},
      {"leave", [](World& w, const Command& c) { return w.leave(c.node); }},
      {"end_hook", [](World& w, const Command& c) { return w.end_hook(c.node); }},
      {"fail_hook", [](World& w, const Command& c) { return w.end_hook(c.node, false); }},
      {"expire", [](World& w, const Command& c) { return w.expire(c.node, c.timer); }},
      {"deliver", [](World& w, const Command& c) { return w.deliver(c.node, c.other); }},
      {"lose", [](World& w, const Command& c) { return w.lose(c.node, c.other); }},
      {"give_up", [](World& w, const Command& c) { return w.give_up(c.node, c.other); }},
      {"prove", [](World& w, const Command& c) { return w.prove(c.node, c.other); }},
      {"cut", [](World& w, const Command& c) { return w.cut(c.node, c.other); }},
      {"heal",
       [](World& w, const Command&) {
         w.heal();
         return true;
       }},
  };
  return table;
}

// The kind of a finding, by which reduction knows it again: the sentence without its numbers.
std::string kind(const std::string& what) {
  std::string words = what.substr(0, what.find('\n'));
  std::erase_if(words, [](char c) { return c >= '0' && c <= '9'; });
  return words;
}

std::optional<std::string> replay(World& world, const Commands& script, const Wildness& wildness) {
  try {
    for (const Command& command : script) run(world, command);
    return come_to_rest(world, wildness.must_settle);
  } catch (const std::exception& found) {
    return found.what();
  }
}

}  // namespace

std::string to_line(const Command& command) {
  std::string line = command.verb;
  if (command.node != 0) line += ' ' + std::to_string(command.node);
  if (command.other != 0) line += ' ' + std::to_string(command.other);
  if (command.verb == "expire") line += ' ' + std::string(enumerator_name(command.timer));
  return line;
}

bool run(World& world, const Command& command) {
  return verbs().find(command.verb)->second(world, command);
}

std::optional<std::string> come_to_rest(World& world, bool must_settle) {
  world.heal();
  for (std::uint32_t i = 1; i <= world.size(); ++i) {
    world.resume(i);
    world.recover(i);
  }
  const Duration peace = world.now;
  if (!world.settle()) {
    if (!must_settle) return std::nullopt;
    std::string views;
    for (std::uint32_t i = 1; i <= world.size(); ++i)
      views += "\n  " + std::to_string(i) + ": " +
               std::string(enumerator_name(world.view(i).status)) + ' ' +
               to_text(world.view(i).procedure);
    return "they never come together" + views;
  }
  const Duration took = world.settled_at - peace;
  const Duration bound = settling_bound(world[1].config);
  if (took <= bound || !must_settle) return std::nullopt;
  return "they come together too late: after " +
         std::to_string(took / std::chrono::milliseconds(1)) + " ms, the bound is " +
         std::to_string(bound / std::chrono::milliseconds(1));
}

std::optional<Finding> explore(std::uint64_t seed, const Wildness& wildness) {
  Finding finding;
  World world(wildness.nodes, wildness.config);
  world.record = false;
  Chance chance(seed, wildness);
  try {
    while (const auto command = chance.next(world)) {
      finding.script.push_back(*command);
      run(world, *command);
    }
    const auto what = come_to_rest(world, wildness.must_settle);
    if (!what) return std::nullopt;
    finding.what = *what;
  } catch (const std::exception& found) {
    finding.what = found.what();
  }
  return finding;
}

Finding reduce(Finding finding, const Wildness& wildness) {
  const std::string sought = kind(finding.what);
  for (std::size_t chunk = finding.script.size(); chunk > 0; chunk /= 2) {
    for (std::size_t from = 0; from < finding.script.size();) {
      Commands without = finding.script;
      const auto begin = without.begin() + static_cast<std::ptrdiff_t>(from);
      const auto count = std::min(chunk, without.size() - from);
      without.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
      World world(wildness.nodes, wildness.config);
      world.record = false;
      const auto what = replay(world, without, wildness);
      if (what && kind(*what) == sought)
        finding = {*what, std::move(without)};
      else
        from += chunk;
    }
  }
  return finding;
}

std::string to_text(const Finding& finding, const Wildness& wildness) {
  std::string text = finding.what + "\n--- script\n";
  for (const Command& command : finding.script) text += to_line(command) + '\n';
  World world(wildness.nodes, wildness.config);
  replay(world, finding.script, wildness);
  const std::string story = world.story();
  constexpr std::size_t enough = 12'000;  // a long rest says nothing new
  return text + "--- story\n" + story.substr(0, enough) +
         (story.size() > enough
              ? "...\n" + story.substr(story.size() - std::min(story.size() - enough, enough / 3))
              : "");
}

}  // namespace muster::test::any
