#pragma once

#include "apps/command_line/described.hpp"
#include "apps/command_line/part_commands.hpp"

#include <filesystem>
#include <string_view>
#include <vector>

/// The parts of `muster` that are programs of their own, beside it in the same directory: a machine
/// that runs nodes needs neither the lab nor libpq.

namespace muster::apps {

struct Part {
  std::string_view program;
  std::string_view how_to_get_it;
  /// True if its own commands stand one word further: `muster postgres init`.
  bool is_a_command;
  std::vector<part_commands::Command> commands;

  [[nodiscard]] std::filesystem::path file() const;
  [[nodiscard]] bool is_there() const;
};

/// The part that has that command; null: it is no command of a part.
const Part* part_of(std::string_view command);

/// Becomes the part's program, with the words of this one. Returns exit code 2, and tells how to
/// get the part, if it is not there.
int become(const Part& part, char** words);

/// Lists the commands of all parts in the help of `app`, and marks those that are not there.
void add_parts(CLI::App& app);

/// All commands of `app`. Those of a part are as the part describes them, and have no options if it
/// is not there.
DescribedCommand described_with_parts(const CLI::App& app);

}  // namespace muster::apps
