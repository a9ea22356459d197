#include "apps/command_line/described.hpp"

#include <CLI/CLI.hpp>

#include <sstream>

namespace muster::apps {
namespace {

/// The choices in a type such as "TEXT:{text,json}" or "value in {on->1,off->0}".
std::vector<std::string> choices_of(const std::string& type) {
  const std::size_t from = type.find('{');
  const std::size_t to = type.find('}', from);
  if (to == std::string::npos) return {};
  std::istringstream inside(type.substr(from + 1, to - from - 1));
  std::vector<std::string> choices;
  for (std::string one; std::getline(inside, one, ',');)
    choices.push_back(one.substr(0, one.find("->")));
  return choices;
}

std::string value_of(const CLI::Option& option, const std::vector<std::string>& choices) {
  if (option.get_items_expected_max() == 0) return {};
  if (!option.get_option_text().empty()) return option.get_option_text();
  if (!option.nonpositional()) return option.get_name(true);
  std::string value;
  constexpr std::size_t few = 8;
  for (const std::string& choice : choices)
    if (choices.size() <= few) value += (value.empty() ? "" : "|") + choice;
  if (value.empty())
    value = option.get_type_name().starts_with("TEXT") || option.get_type_name().empty() ? "VALUE"
                                                                                         : "NUMBER";
  return value + (option.get_default_str().empty() || option.get_default_str() == "[]"
                      ? ""
                      : " [" + option.get_default_str() + "]");
}

}  // namespace

DescribedCommand described(const CLI::App& app, const std::string& before) {
  DescribedCommand command;
  command.name = before + app.get_name();
  command.what = app.get_description();
  command.more = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    DescribedOption one;
    for (const std::string& name : option->get_snames()) one.names.push_back('-' + name);
    for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
    one.choices = choices_of(option->get_type_name());
    one.value = value_of(*option, one.choices);
    one.what = option->get_description();
    one.required = option->get_required();
    command.options.push_back(std::move(one));
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!below->get_group().empty())
      command.commands.push_back(described(*below, command.name + ' '));
  return command;
}

std::vector<const DescribedCommand*> all_of(const DescribedCommand& command) {
  std::vector<const DescribedCommand*> all{&command};
  for (const DescribedCommand& below : command.commands) {
    const auto its = all_of(below);
    all.insert(all.end(), its.begin(), its.end());
  }
  return all;
}

}  // namespace muster::apps
