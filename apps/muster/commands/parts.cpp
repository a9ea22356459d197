#include "apps/muster/commands/parts.hpp"

#include "apps/base/failed.hpp"
#include "apps/base/process.hpp"

#include <CLI/CLI.hpp>
#include <boost/json/parse.hpp>
#include <muster/values/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace muster::apps {
namespace {

const std::vector<Part>& parts() {
  static const std::vector<Part> all{
      {"muster-lab",
       "install the package muster-lab, or build it with ./dev build release",
       false,
       {part_commands::check, part_commands::simulate, part_commands::replay, part_commands::verify,
        part_commands::draw, part_commands::election}},
      {"muster-postgres",
       "install the package muster-postgres, or install libpq (Debian: libpq-dev) and build it "
       "with ./dev build release",
       true,
       {part_commands::postgres}}};
  return all;
}

// Asks the program for a description of its commands. None if it gives none.
std::optional<DescribedCommand> ask(const Part& part) {
  auto pipe = make_pipe();
  if (!pipe) return {};
  ProcessOptions options;
  options.program = part.file();
  options.arguments = {"--describe"};
  options.standard = {-1, pipe->write.fd(), STDERR_FILENO};
  auto process = Process::launch(options);
  pipe->write = {};
  if (!process) return {};
  std::string text;
  char bytes[4096];
  for (ssize_t got = 0; (got = ::read(pipe->read.fd(), bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<std::size_t>(got));
  if (process->wait() != 0) return {};
  boost::system::error_code error;
  const auto value = boost::json::parse(text, error);
  if (error) return {};
  auto described = read_json<DescribedCommand>(value);
  return described ? std::optional(*std::move(described)) : std::nullopt;
}

}  // namespace

std::filesystem::path Part::file() const {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / program;
}

bool Part::is_there() const {
  return ::access(file().c_str(), X_OK) == 0;
}

const Part* part_of(std::string_view command) {
  for (const Part& part : parts())
    for (const part_commands::Command& one : part.commands)
      if (command == one.name) return &part;
  return nullptr;
}

int become(const Part& part, char** words) {
  std::string program = part.file();
  const std::string command = words[1];
  char** const its_words = part.is_a_command ? words + 1 : words;
  its_words[0] = program.data();
  ::execv(program.c_str(), its_words);
  return failed({ExitCode::usage, "muster " + command + " needs the program " + program + " (" +
                                      std::generic_category().message(errno) +
                                      "): " + std::string(part.how_to_get_it)});
}

void add_parts(CLI::App& app) {
  for (const Part& part : parts())
    for (const part_commands::Command& command : part.commands)
      app.add_subcommand(
          command.name,
          std::string(command.what) +
              (part.is_there() ? "" : " (not installed: needs " + std::string(part.program) + ")"));
}

DescribedCommand described_with_parts(const CLI::App& app) {
  DescribedCommand all = described(app);
  for (const Part& part : parts()) {
    const auto answer = part.is_there() ? ask(part) : std::nullopt;
    std::vector<DescribedCommand> told;
    if (answer) told = part.is_a_command ? std::vector{*answer} : answer->commands;
    for (const part_commands::Command& command : part.commands) {
      const auto is_it = [&](const auto& one) { return one.last_name() == command.name; };
      const auto listed = std::find_if(all.commands.begin(), all.commands.end(), is_it);
      const auto own = std::find_if(told.begin(), told.end(), is_it);
      if (own != told.end())
        *listed = *own;
      else
        listed->options.clear();
    }
  }
  return all;
}

}  // namespace muster::apps
