#include "apps/cluster/script.hpp"

#include "apps/base/text.hpp"

#include <muster/detail/values/kinds.hpp>
#include <muster/values/one_line.hpp>

#include <algorithm>
#include <limits>

namespace muster::apps {
namespace {

using Words = std::vector<std::string_view>;

Words split(std::string_view line) {
  Words words;
  std::size_t at = 0;
  while (at < line.size()) {
    const auto begin = line.find_first_not_of(" \t\r,", at);
    if (begin == std::string_view::npos) break;
    const auto end = std::min(line.find_first_of(" \t\r,", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    at = end;
  }
  return words;
}

constexpr const char* node_words = "a node's id, coordinator, lowest, highest-member or all";

std::optional<Chosen> parse_chosen(std::string_view word) {
  if (word == "coordinator") return Selector::coordinator;
  if (word == "lowest") return Selector::lowest;
  if (word == "highest-member") return Selector::highest_member;
  if (word == "all") return Selector::all;
  const auto id = parse_number(word);
  if (!id || *id == 0 || *id > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return NodeId{static_cast<std::uint32_t>(*id)};
}

/// Parses one line into the step. Returns the expected form if the line does not have it.
using Expectation = std::optional<std::string>;

Expectation parse_wait(const Words& words, ScriptStep& step) {
  WaitNormal wait;
  if (words.size() < 2 || words[1] != "normal") return "wait normal [within 10s]";
  if (words.size() == 4 && words[2] == "within") wait.within = parse_duration(words[3]);
  if (words.size() != 2 && !wait.within) return "wait normal [within 10s]";
  step.what = wait;
  return std::nullopt;
}

Expectation parse_run(const Words& words, ScriptStep& step) {
  const auto time = words.size() == 2 ? parse_duration(words[1]) : std::nullopt;
  if (!time) return "run and a duration, such as run 2s";
  step.what = Run{*time};
  return std::nullopt;
}

Expectation parse_act(Verb verb, Words words, ScriptStep& step) {
  Act act{verb, {}, std::nullopt};
  const auto before = words.size() < 2 ? words.end() : words.end() - 2;
  if (before != words.end() && *before == "for") {
    if (verb != Verb::pause) return "for only after pause";
    act.lasting = parse_duration(words.back());
    if (!act.lasting) return "a duration after for, such as for 700ms";
    words.erase(before, words.end());
  }
  for (auto word = words.begin() + 1; word != words.end(); ++word) {
    const auto chosen = parse_chosen(*word);
    if (!chosen) return node_words + (", not " + std::string(*word));
    act.nodes.push_back(*chosen);
  }
  if (act.nodes.empty()) return std::string(node_words) + " after " + std::string(words.front());
  step.what = std::move(act);
  return std::nullopt;
}

Expectation parse_line(const Words& words, ScriptStep& step) {
  if (words.front() == "wait") return parse_wait(words, step);
  if (words.front() == "run") return parse_run(words, step);
  if (const auto verb = enumerator_named<Verb>(words.front())) return parse_act(*verb, words, step);
  return "wait, run, kill, start, pause or resume";
}

}  // namespace

Expected<Script> parse_script(std::string_view text, const std::string& file) {
  Script script;
  std::size_t number = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    line = line.substr(0, line.find('#'));
    const Words words = split(line);
    if (words.empty()) continue;
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    line.remove_prefix(line.find_first_not_of(" \t"));
    ScriptStep step{file + ":" + std::to_string(number), std::string(line), {}};
    if (const auto expected = parse_line(words, step)) {
      constexpr std::size_t most = 300;
      return Failure{ExitCode::usage, step.place + ": " + one_line(step.text, most) +
                                          ": expected " + one_line(*expected, most)};
    }
    script.push_back(std::move(step));
  }
  return script;
}

std::string default_script(const Timings& timings) {
  const std::string pause = format_duration(timings.coordinator_timeout + 4 * timings.T);
  return "wait normal                   # the initial start is a recovery of all nodes\n"
         "run 1s\n"
         "kill coordinator              # kill -9\n"
         "wait normal\n"
         "run 1s\n"
         "start coordinator             # a recovering higher node takes over\n"
         "wait normal\n"
         "run 1s\n"
         "kill lowest\n"
         "wait normal\n"
         "run 1s\n"
         "start lowest                  # Check finds that it is not Normal\n"
         "wait normal\n"
         "run 1s\n"
         "kill coordinator highest-member\n"
         "wait normal\n"
         "run 1s\n"
         "start all\n"
         "wait normal\n"
         "run 1s\n"
         "pause coordinator for " +
         pause +
         "   # SIGSTOP: a failure, by assumption 9\n"
         "wait normal\n"
         "run 1s\n"
         "kill all                      # a power cut, as far as processes can tell\n"
         "start all\n"
         "wait normal\n"
         "run 2s\n";
}

RandomScript::RandomScript(std::uint64_t seed, const NodeSet& nodes, const Timings& timings)
    : state_(seed), live_(nodes), timings_(timings) {}

// SplitMix64. This function gives the same numbers on every machine, unlike the distributions of
// the standard library.
std::uint64_t RandomScript::below(std::uint64_t bound) {
  state_ += 0x9E3779B97F4A7C15;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
  return (mixed ^ (mixed >> 31)) % bound;
}

NodeId RandomScript::any(const NodeSet& of) {
  return *std::next(of.begin(), static_cast<std::ptrdiff_t>(below(of.size())));
}

ScriptStep RandomScript::step(const std::string& text) const {
  return parse_script(text, "random step " + std::to_string(made_)).value().front();
}

Script RandomScript::next() {
  ++made_;
  Script steps;
  const std::uint64_t choice = below(10);
  if (!down_.empty() && (live_.size() < 2 || choice < 4)) {
    const NodeId node = any(down_);
    down_.erase(node);
    live_.insert(node);
    steps.push_back(step("start " + std::to_string(node.value)));
  } else if (choice < 8) {
    const NodeId node = any(live_);
    live_.erase(node);
    down_.insert(node);
    steps.push_back(step("kill " + std::to_string(node.value)));
  } else {
    const NodeId node = any(live_);
    const Duration length = timings_.T / 4 * static_cast<int>(1 + below(24));
    steps.push_back(
        step("pause " + std::to_string(node.value) + " for " + format_duration(length)));
  }
  // A short time lets several faults fall into one election. A long time lets the election end.
  const auto run = std::chrono::milliseconds(below(3) == 0 ? 1 + below(10) : 10 + below(400));
  steps.push_back(step("run " + format_duration(run)));
  return steps;
}

Script RandomScript::end() const {
  Script steps;
  if (!down_.empty()) steps.push_back(step("start all"));
  steps.push_back(step("wait normal"));
  steps.push_back(step("run 1s"));
  return steps;
}

}  // namespace muster::apps
