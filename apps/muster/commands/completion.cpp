#include "apps/base/failed.hpp"
#include "apps/base/write_file.hpp"
#include "apps/command_line/described.hpp"
#include "apps/muster/commands/commands.hpp"
#include "apps/muster/commands/parts.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <utility>

// `muster completion` and `muster man`: describe the commands to a shell and to man.

namespace muster::apps {
namespace {

constexpr const char* shells =
    R"(To load it in every new shell, if muster was not installed from the package:
  bash  muster completion bash >~/.local/share/bash-completion/completions/muster
  zsh   muster completion zsh >~/.zfunc/_muster, with fpath+=~/.zfunc before compinit in ~/.zshrc
  fish  muster completion fish >~/.config/fish/completions/muster.fish)";

/// Escapes text for a manual page, so that every character means itself.
std::string roff(const std::string& text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    begins = c == '\n';
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '`')
      out += "\\(ga";
    else if (c == '^')
      out += "\\(ha";
    else if (c == '~')
      out += "\\(ti";
    else
      out += c;
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

/// "muster-config": the name of the command's page.
std::string dashed(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string synopsis(const DescribedCommand& command) {
  std::string text = ".B " + roff(command.name) + '\n';
  if (!command.commands.empty()) return text + ".I COMMAND\n";
  for (const DescribedOption& option : command.options)
    if (option.required && !option.names.empty())
      text += ".B " + roff(option.names.back()) + "\n.I " + roff(option.value) + '\n';
  if (std::any_of(command.options.begin(), command.options.end(),
                  [](const auto& one) { return !one.required && !one.names.empty(); }))
    text += "[\\fIOPTION\\fR ...]\n";
  for (const DescribedOption& option : command.options)
    if (option.names.empty()) text += ".I " + roff(option.value) + '\n';
  return text;
}

/// ": one of a, b, c", if the name of the value does not list them.
std::string rest_of(const DescribedOption& option) {
  std::string text = option.required ? " (required)" : "";
  if (!option.choices.empty() && option.value.find('|') == std::string::npos) {
    const char* before = ": one of ";
    for (const std::string& choice : option.choices)
      text += std::exchange(before, ", ") + roff(choice);
  }
  return text + '\n';
}

std::string options(const DescribedCommand& command) {
  std::string text;
  for (const DescribedOption& option : command.options) {
    text += ".TP\n";
    std::string names;
    for (const std::string& name : option.names)
      names += (names.empty() ? "\\fB" : "\\fR, \\fB") + roff(name);
    if (!names.empty()) names += "\\fR";
    if (!option.value.empty())
      names += std::string(names.empty() ? "" : " ") + "\\fI" + roff(option.value) + "\\fR";
    text += names + '\n' + roff(option.what) + rest_of(option);
  }
  return text;
}

std::string more(const DescribedCommand& command) {
  if (command.more.empty()) return {};
  std::string text = command.more;
  text.erase(0, text.find_first_not_of('\n'));
  while (text.ends_with('\n')) text.pop_back();
  for (std::size_t at = 0; (at = text.find("\n\n", at)) != std::string::npos; ++at)
    text.insert(at + 1, " ");  // mandoc refuses empty lines
  return ".PP\n.nf\n" + roff(text) + "\n.fi\n";
}

int complete(const DescribedCommand& muster, const std::string& shell) {
  if (shell == "bash")
    std::cout << bash_completion(muster);
  else if (shell == "zsh")
    std::cout << zsh_completion(muster);
  else
    std::cout << fish_completion(muster);
  return 0;
}

int write_manual(const DescribedCommand& muster, const std::string& version,
                 const std::filesystem::path& directory) {
  const auto write = [&](const DescribedCommand& command, bool whole) {
    return write_file(directory / (dashed(command.name) + ".1"), man_page(command, version, whole));
  };
  auto written = write(muster, false);
  for (const DescribedCommand& command : muster.commands)  // no options: not installed
    if (written && !command.options.empty()) written = write(command, true);
  return written ? 0 : failed(written.error());
}

}  // namespace

std::string man_page(const DescribedCommand& command, const std::string& version, bool whole) {
  std::string text = ".TH " + upper(dashed(command.name)) + " 1 \"\" \"" + version +
                     "\" \"Elections and reorganization\"\n.nh\n.ad l\n.SH NAME\n" +
                     roff(dashed(command.name)) + " \\- " + roff(command.what) +
                     "\n.SH SYNOPSIS\n" + synopsis(command);
  text += ".SH DESCRIPTION\n" + roff(command.what) + ".\n" + more(command);
  if (!command.options.empty()) text += ".SH OPTIONS\n" + options(command);
  if (!command.commands.empty()) text += ".SH COMMANDS\n";
  for (const DescribedCommand& below : command.commands) {
    if (!whole) {
      text += ".TP\n\\fB" + roff(dashed(below.name)) + "\\fR(1)\n" + roff(below.what) + '\n';
      continue;
    }
    text += ".SS " + roff(below.name) + '\n' + synopsis(below) + ".PP\n" + roff(below.what) +
            ".\n" + more(below) + options(below);
  }
  const std::string others = whole ? "\\fBmuster\\fR(1), " : "";
  return text + ".SH SEE ALSO\n" + others + "/usr/share/doc/muster\n";
}

void add_completion_command(CLI::App& app, int& exit_code) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* completion =
      app.add_subcommand("completion", "Print a shell's completion script for these commands");
  completion->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember(std::vector<std::string>{"bash", "zsh", "fish"}));
  completion->footer(shells);
  completion->callback(
      [&app, shell, &exit_code] { exit_code = complete(described_with_parts(app), *shell); });
  const auto directory = std::make_shared<std::string>();
  CLI::App* man = app.add_subcommand("man", "Write the manual pages into a directory");
  man->add_option("DIR", *directory, "The directory; it gets muster.1 and a page for each command")
      ->required()
      ->check(CLI::ExistingDirectory);
  man->callback([&app, directory, &exit_code] {
    exit_code = write_manual(described_with_parts(app), app.version(), *directory);
  });
}

}  // namespace muster::apps
