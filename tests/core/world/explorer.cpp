#include "explorer.hpp"

#include <muster/detail/values/kinds.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <cstdlib>
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
      if (!world[i].up() || world[i].paused) continue;
      offer_peers(world, i);
      offer_own(world, i);
    }
    if (choices_.empty()) return std::nullopt;
    Choice chosen = choose();
    if (chosen.left) --*chosen.left;
    if (chosen.command.verb == "fail" && random_() % 3 == 0)
      return Command{"fail_after", chosen.command.node, 0, std::to_string(1 + random_() % 6)};
    return std::move(chosen.command);
  }

 private:
  struct Choice {
    unsigned weight;
    Command command;
    unsigned* left;  ///< how often it may still happen
  };

  unsigned one_of(std::initializer_list<unsigned> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random_() % values.size()));
  }
  void offer(unsigned weight, Command command, unsigned* left = nullptr) {
    if (!left || *left > 0) choices_.push_back({weight, std::move(command), left});
  }

  Choice choose() {
    std::uint64_t all = 0;
    for (const Choice& choice : choices_) all += choice.weight;
    std::uint64_t drawn = random_() % all;
    for (Choice& choice : choices_) {
      if (drawn < choice.weight) return std::move(choice);
      drawn -= choice.weight;
    }
    return std::move(choices_.back());
  }

  void offer_life(const World& world, std::uint32_t i) {
    if (!world[i].up()) {
      offer(recover_, {"recover", i, 0, ""});
      offer(recover_, {"differ", i, 0, ""}, &left_.differences);
    } else if (world[i].paused) {
      offer(recover_, {"resume", i, 0, ""});
    } else {
      offer(trouble_, {"fail", i, 0, random_() % 4 == 0 ? "silent" : ""}, &left_.failures);
      offer(trouble_, {"pause", i, 0, ""}, &left_.pauses);
      if (!common(world[i].protocol()).leaving) offer(trouble_, {"leave", i, 0, ""}, &left_.leaves);
    }
  }

  void offer_peers(const World& world, std::uint32_t i) {
    for (std::uint32_t j = 1; j <= world.size(); ++j) {
      if (j == i) continue;
      if (world.can_deliver(j, i)) offer(2 * deliver_, {"deliver", j, i, ""});
      if (world.can_lose(j, i)) offer(1, {"lose", j, i, ""});
      if (i < j && world.can_connect(i, j)) offer(connect_, {"connect", i, j, ""});
      if (i < j) offer(1, {"reset", i, j, ""}, &left_.resets);
      if (world.can_refuse(i, j)) offer(prove_, {"refuse", i, j, ""});
      if (world.can_be_silent(i, j))
        offer(prove_, {"silence", i, j, ""});
      else if (calls(world[i], j))
        offer(trouble_, {"silence", i, j, ""}, &left_.silences);
      offer(1, {"cut", i, j, ""}, &left_.cuts);
      if (world.is_cut(i, j)) offer(1, {"heal", 0, 0, ""});
    }
  }

  static bool calls(const TestNode& node, std::uint32_t to) {
    return std::any_of(node.calls().begin(), node.calls().end(),
                       [to](const auto& call) { return call.second.letter.to.value == to; });
  }

  void offer_own(const World& world, std::uint32_t i) {
    if (const auto& running = world[i].application.running) {
      offer(hook_, {"end_hook", i, 0, ""});
      if (running->cancelled)
        offer(hook_, {"end_hook_late", i, 0, ""});
      else
        offer(hook_, {"fail_hook", i, 0, ""}, &left_.failed_hooks);
    }
    for (const auto& [timer, armed] : world[i].timers())
      if (world.can_expire(timer))
        offer(expire_, {"expire", i, 0, to_text(timer)}, &left_.expiries);
  }

  std::mt19937_64 random_;
  Wildness left_;
  unsigned deliver_ = 1, connect_ = 1, prove_ = 1, hook_ = 1, expire_ = 1, recover_ = 1,
           trouble_ = 1;
  std::vector<Choice> choices_;
};

// Time has an order that scripts know nothing of: what is left of one is still to have happened.
bool may_happen(const World& world, const Command& command, const Wildness& wildness) {
  if (command.verb == "silence")
    return wildness.silences > 0 || world.can_be_silent(command.node, command.other);
  return command.verb != "expire" ||
         world.can_expire(enumerator_named<Timer>(command.word).value());
}

// The kind of a finding, by which reduction knows it again: the sentence without its numbers.
std::string kind(const std::string& what) {
  std::string words = what.substr(0, what.find('\n'));
  std::erase_if(words, [](char c) { return c >= '0' && c <= '9'; });
  return words;
}

// What is found when that script is run once more, leaving out what is not possible.
std::optional<std::string> replay(World& world, const Commands& script, const Wildness& wildness) {
  try {
    for (const Command& command : script) {
      if (!may_happen(world, command, wildness)) continue;
      if (world.record) world.say("# " + to_line(command));
      run(world, command);
    }
    if (world.record) world.say("# and then failures cease");
    return come_to_rest(world, wildness.must_settle);
  } catch (const Violation& violation) {
    return violation.what();
  }
}

}  // namespace

std::optional<std::string> come_to_rest(World& world, bool must_settle, Return back) {
  world.inject.reset();
  const auto rest = [&](const char* when) -> std::optional<std::string> {
    const Duration peace = world.now;
    if (world.settle()) {
      const Duration bound = settling_bound(world[1].config);
      if (world.settled_at - peace <= bound || !must_settle) return std::nullopt;
      return std::string("they come together too late ") + when;
    }
    if (!must_settle) return std::nullopt;
    return std::string("they never come together ") + when;
  };
  world.heal();
  for (std::uint32_t i = 1; i <= world.size(); ++i) {
    world.resume(i);
    if (world[i].cluster.empty()) continue;
    world.fail(i);
    world.differ(i);
  }
  for (std::uint32_t i = 1; i <= world.size(); ++i) {
    if (back == Return::one_by_one)
      if (auto late = rest("with some nodes down")) return late;
    world.recover(i);
  }
  return rest("with all nodes up");
}

std::optional<Finding> explore(std::uint64_t seed, const Wildness& wildness,
                               std::map<std::string, std::uint64_t>* happened) {
  Finding finding;
  World world(wildness.nodes, wildness.config);
  world.record = false;
  Chance chance(seed, wildness);
  try {
    while (const auto command = chance.next(world)) {
      finding.script.push_back(*command);
      if (happened) ++(*happened)[command->verb];
      run(world, *command);
    }
    const auto what = come_to_rest(world, wildness.must_settle);
    if (!what) return std::nullopt;
    finding.what = *what;
  } catch (const Violation& violation) {
    finding.what = violation.what();
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
  text += "--- journal\n";
  const std::vector<std::string>& lines = world.journal();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i >= 100 && i + 40 < lines.size()) continue;  // a long rest says nothing new
    text += lines[i] + '\n';
  }
  return text;
}

namespace {

// What is not seen to happen is not seen to do no harm.
void ensure_that_it_happened(const Wildness& wildness,
                             const std::map<std::string, std::uint64_t>& happened) {
  const std::pair<const char*, unsigned> most[] = {
      {"fail", wildness.failures},    {"reset", wildness.resets},
      {"silence", wildness.silences}, {"cut", wildness.cuts},
      {"pause", wildness.pauses},     {"differ", wildness.differences},
      {"leave", wildness.leaves},     {"fail_hook", wildness.failed_hooks},
      {"expire", wildness.expiries}};
  for (const auto& [verb, allowed] : most)
    if (allowed > 0 && !happened.contains(verb))
      throw Violation(std::string("in no seed came about: ") + verb);
}

}  // namespace

void explore_seeds(const Wildness& wildness, std::uint64_t seeds) {
  std::uint64_t first = 1;
  std::uint64_t last = seeds;
  if (const char* range = std::getenv("MUSTER_SEEDS")) {
    const std::string text = range;
    first = std::stoull(text);
    last = std::stoull(text.substr(text.find("..") + 2));
  }
  std::map<std::string, std::uint64_t> happened;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const auto finding = explore(seed, wildness, &happened);
    if (!finding) continue;
    throw Violation("seed " + std::to_string(seed) + ": " +
                    to_text(reduce(*finding, wildness), wildness));
  }
  ensure_that_it_happened(wildness, happened);
}

}  // namespace muster::test
