#include "script.hpp"

#include <muster/detail/values/kinds.hpp>

#include <functional>
#include <sstream>

namespace muster::test {

namespace {

bool is(const World& world, std::uint32_t node, const std::string& word) {
  if (!world[node].up()) return false;
  const View view = world.view(node);
  return enumerator_name(view.status) == word || enumerator_name(view.procedure) == word ||
         enumerator_name(view.application) == word;
}

bool repeat(World& world, const Command& command) {
  std::istringstream words(command.word);
  std::string message;
  unsigned which = 0;
  words >> message >> which;
  const Letter* found = nullptr;
  unsigned count = 0;
  for (const Letter& letter : world.sent()) {
    if (letter.from.value != command.node || letter.to.value != command.other) continue;
    if (alternative_name(letter.message) != message) continue;
    found = &letter;
    if (++count == which) break;
  }
  if (!found) return false;
  const Letter letter = *found;
  return world.give(command.other, Received{letter});
}

using Run = std::function<bool(World&, const Command&)>;

const std::map<std::string, Run, std::less<>>& verbs() {
  static const std::map<std::string, Run, std::less<>> table = {
      {"recover", [](World& w, const Command& c) { return w.recover(c.node); }},
      {"fail", [](World& w, const Command& c) { return w.fail(c.node, c.word == "silent"); }},
      {"pause", [](World& w, const Command& c) { return w.pause(c.node); }},
      {"resume", [](World& w, const Command& c) { return w.resume(c.node); }},
      {"differ", [](World& w, const Command& c) { return w.differ(c.node); }},
      {"leave", [](World& w, const Command& c) { return w.leave(c.node); }},
      {"fail_after",
       [](World& w, const Command& c) {
         w.inject = Injection{c.node, w[c.node].actions + std::stoul(c.word)};
         return true;
       }},
      {"deliver", [](World& w, const Command& c) { return w.deliver(c.node, c.other); }},
      {"connect", [](World& w, const Command& c) { return w.connect(c.node, c.other); }},
      {"refuse", [](World& w, const Command& c) { return w.refuse(c.node, c.other); }},
      {"silence", [](World& w, const Command& c) { return w.silence(c.node, c.other); }},
      {"lose", [](World& w, const Command& c) { return w.lose(c.node, c.other); }},
      {"repeat", repeat},
      {"reset", [](World& w, const Command& c) { return w.reset(c.node, c.other); }},
      {"cut", [](World& w, const Command& c) { return w.cut(c.node, c.other); }},
      {"heal",
       [](World& w, const Command&) {
         w.heal();
         return true;
       }},
      {"expire",
       [](World& w, const Command& c) {
         return w.expire(c.node, enumerator_named<Timer>(c.word).value());
       }},
      {"end_hook", [](World& w, const Command& c) { return w.end_hook(c.node); }},
      {"fail_hook", [](World& w, const Command& c) { return w.end_hook(c.node, false); }},
      {"end_hook_late", [](World& w, const Command& c) { return w.end_hook_late(c.node); }},
      {"hold", [](World& w, const Command& c) { return w[c.node].hold_hooks = true; }},
      {"release", [](World& w, const Command& c) { return !(w[c.node].hold_hooks = false); }},
      {"run",
       [](World& w, const Command&) {
         w.run();
         return true;
       }},
      {"until",
       [](World& w, const Command& c) {
         return w.run_until([&](const World& now) { return is(now, c.node, c.word); });
       }},
      {"advance", [](World& w, const Command&) { return w.advance(); }},
      {"settle", [](World& w, const Command&) { return w.settle(); }},
  };
  return table;
}

}  // namespace

Command parse_command(std::string_view line) {
  std::istringstream words{std::string(line)};
  Command command;
  words >> command.verb;
  if (!verbs().contains(command.verb))
    throw std::invalid_argument("no such command: " + std::string(line));
  std::string word;
  std::vector<std::uint32_t*> numbers = {&command.node, &command.other};
  while (words >> word) {
    if (!numbers.empty() && command.word.empty() &&
        word.find_first_not_of("0123456789") == std::string::npos &&
        !(command.verb == "fail_after" && numbers.size() == 1)) {
      *numbers.front() = static_cast<std::uint32_t>(std::stoul(word));
      numbers.erase(numbers.begin());
    } else {
      command.word += (command.word.empty() ? "" : " ") + word;
    }
  }
  return command;
}

std::vector<Command> parse_script(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::vector<Command> script;
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t") != std::string::npos) script.push_back(parse_command(line));
  }
  return script;
}

std::string to_line(const Command& command) {
  std::string line = command.verb;
  if (command.node != 0) line += ' ' + std::to_string(command.node);
  if (command.other != 0) line += ' ' + std::to_string(command.other);
  if (!command.word.empty()) line += ' ' + command.word;
  return line;
}

bool run(World& world, const Command& command) {
  const bool about_nodes = command.node <= world.size() && command.other <= world.size();
  return about_nodes && verbs().find(command.verb)->second(world, command);
}

}  // namespace muster::test
