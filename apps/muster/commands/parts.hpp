#pragma once

#include "apps/command_line/described.hpp"
#include "apps/command_line/part_commands.hpp"

#include <filesystem>
#include <string_view>
#include <vector>

/// Parts of `muster` that are separate programs in the same directory. So a machine that runs nodes
/// needs neither the lab nor libpq.

namespace muster::apps {

struct Part {
  std::string_view program;
  std::string_view how_to_get_it;
  /// True if the part is one command with subcommands: `muster postgres init`.
  bool is_a_command;
  std::vector<part_commands::Command> commands;

  [[nodiscard]] std::filesystem::path file() const;
  [[nodiscard]] bool is_there() const;
};

/// The part that has that command. Null if no part has it.
const Part* part_of(std::string_view command);

/// Executes the part's program with this program's arguments, in this process. If the program does
/// not exist, says how to get it and returns exit code 2.
int become(const Part& part, char** words);

/// Lists the commands of all parts in the help of `app`. Marks the commands whose part is not
/// installed.
void add_parts(CLI::App& app);

/// Describes all commands of `app`. Commands of a part are described by the part itself. They have
/// no options if the part is not installed.
DescribedCommand described_with_parts(const CLI::App& app);

}  // namespace muster::apps
