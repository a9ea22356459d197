#include "apps/command_line/described.hpp"

#include <string>

// Completion in shells. Each script finds the command from the words before the cursor, and offers
// its subcommands, options and values.

namespace muster::apps {
namespace {

/// Quotes text for bash and zsh, with single quotes.
std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// Quotes text for fish.
std::string fish_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) (out += c == '\'' || c == '\\' ? "\\" : "") += c;
  return out + "'";
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string spaced(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// The patterns of a `case`: each subcommand with the command before it.
std::string patterns_of_commands(const DescribedCommand& muster) {
  std::string text;
  for (const DescribedCommand* command : all_of(muster))
    if (command != &muster) text += (text.empty() ? "" : " | ") + in_quotes(command->name);
  return text;
}

std::string patterns_of_values(const DescribedCommand& command, const DescribedOption& option) {
  std::string text;
  for (const std::string& name : option.names)
    text += (text.empty() ? "" : " | ") + in_quotes(command.name + ' ' + name);
  return text;
}

/// A line of `case` for each option with a value. It offers the choices, or files if there are
/// none.
std::string cases_of_values(const DescribedCommand& muster, const std::string& choose,
                            const std::string& file) {
  std::string text;
  for (const DescribedCommand* command : all_of(muster))
    for (const DescribedOption& option : command->options)
      if (!option.names.empty() && !option.value.empty())
        text += "    " + patterns_of_values(*command, option) + ") " +
                (option.choices.empty() ? file : choose + ' ' + spaced(option.choices)) +
                "; return ;;\n";
  return text;
}

constexpr const char* bash_begin = R"(# bash completion for muster: made by muster completion bash
_muster() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local command=muster commands='' options='' each
  _muster_choose() { mapfile -t COMPREPLY < <(compgen -W "$*" -- "$word"); }
  _muster_file() {
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    compopt -o filenames 2>/dev/null
  }
  COMPREPLY=()
  for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $each != -- ]] || { _muster_file; return; }
    case "$command $each" in
)";

constexpr const char* bash_end = R"(  esac
  if [[ $word == -* ]]; then
    _muster_choose "$options"
  elif [[ $commands ]]; then
    _muster_choose "$commands"
  else
    _muster_file
  fi
}
complete -F _muster muster
)";

constexpr const char* zsh_begin = R"(#compdef muster
# zsh completion for muster: made by muster completion zsh
_muster() {
  local command=muster each before=${words[CURRENT - 1]}
  local -a commands options
  for each in "${(@)words[2,CURRENT - 1]}"; do
    [[ $each != -- ]] || { _files; return }
    case "$command $each" in
)";

constexpr const char* zsh_end = R"(  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o option options
  elif (( $#commands )); then
    _describe command commands
  else
    _files
  fi
}
if [[ $funcstack[1] == _muster ]]; then _muster "$@"; else compdef _muster muster; fi
)";

constexpr const char* fish_begin = R"(# fish completion for muster: made by muster completion fish
function __muster_at
  set -l command muster
  set -l words (commandline -opc)
  set -e words[1]
  for word in $words
    switch "$command $word"
      case )";

constexpr const char* fish_end = R"(
        set command "$command $word"
    end
  end
  test "$command" = "$argv[1]"
end
)";

/// "name:what it does", for zsh.
std::string with_text(const std::string& name, const std::string& what) {
  std::string text;
  for (const char c : first_line(what)) (text += c == ':' || c == '\\' ? "\\" : "") += c;
  return in_quotes(name + ':' + text);
}

}  // namespace

std::string bash_completion(const DescribedCommand& muster) {
  std::string text = bash_begin;
  text += "      " + patterns_of_commands(muster) + ") command+=\" $each\" ;;\n    esac\n  done\n" +
          "  case \"$command $before\" in\n" +
          cases_of_values(muster, "_muster_choose", "_muster_file") + "  esac\n" +
          "  case $command in\n";
  for (const DescribedCommand* command : all_of(muster)) {
    std::vector<std::string> commands;
    for (const DescribedCommand& below : command->commands) commands.push_back(below.last_name());
    std::string options;
    for (const DescribedOption& option : command->options)
      if (!option.names.empty()) options += (options.empty() ? "" : " ") + option.names.back();
    text += "    " + in_quotes(command->name) + ") commands=" + in_quotes(spaced(commands)) +
            " options=" + in_quotes(options) + " ;;\n";
  }
  return text + bash_end;
}

std::string zsh_completion(const DescribedCommand& muster) {
  std::string text = zsh_begin;
  text += "      " + patterns_of_commands(muster) + ") command+=\" $each\" ;;\n    esac\n  done\n" +
          "  case \"$command $before\" in\n" + cases_of_values(muster, "compadd", "_files") +
          "  esac\n" + "  case $command in\n";
  for (const DescribedCommand* command : all_of(muster)) {
    text += "    " + in_quotes(command->name) + ")\n      commands=(";
    for (const DescribedCommand& below : command->commands)
      text += "\n        " + with_text(below.last_name(), below.what);
    text += ")\n      options=(";
    for (const DescribedOption& option : command->options)
      if (!option.names.empty()) text += "\n        " + with_text(option.names.back(), option.what);
    text += ") ;;\n";
  }
  return text + zsh_end;
}

std::string fish_completion(const DescribedCommand& muster) {
  std::string text = fish_begin;
  std::vector<std::string> names;
  for (const DescribedCommand* command : all_of(muster))
    if (command != &muster) names.push_back(in_quotes(command->name));
  text += spaced(names) + fish_end;
  for (const DescribedCommand* command : all_of(muster)) {
    const std::string here =
        "complete -c muster -n " + fish_quotes("__muster_at " + in_quotes(command->name)) + ' ';
    for (const DescribedCommand& below : command->commands)
      text +=
          here + "-f -a " + below.last_name() + " -d " + fish_quotes(first_line(below.what)) + '\n';
    for (const DescribedOption& option : command->options) {
      if (option.names.empty()) continue;
      text += here;
      for (const std::string& name : option.names)
        text +=
            name.starts_with("--") ? "-l " + name.substr(2) + ' ' : "-s " + name.substr(1) + ' ';
      if (!option.choices.empty())
        text += "-x -a " + fish_quotes(spaced(option.choices)) + ' ';
      else if (!option.value.empty())
        text += "-r ";
      text += "-d " + fish_quotes(first_line(option.what)) + '\n';
    }
  }
  return text;
}

}  // namespace muster::apps
