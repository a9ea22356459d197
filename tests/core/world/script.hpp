#pragma once

#include "world.hpp"

#include <string>
#include <string_view>
#include <vector>

/// Scripts for the test world: one command a line, `#` begins a comment.
///
///   recover 3 · fail 3 [silent] · pause 3 · resume 3 · leave 3 · differ 3
///   fail_after 3 2         node 3 fails when it has performed two more actions
///   deliver 3 2            2 reads the frames from 3, up to the next letter
///   connect 3 2 · refuse 3 2 · silence 3 2 · lose 3 2            see class World
///   reset 3 2 · cut 3 2 · heal                                   likewise
///   repeat 3 2 Halt        gives 2 the last Halt from 3 again, without the sessions
///   repeat 3 2 Halt 1      the same with the first Halt from 3
///   expire 3 check · end_hook 3 · fail_hook 3 · end_hook_late 3
///   hold 3 · release 3     hold: `run`, `until` and `settle` let no hook of 3 end
///   run                    everything that needs no timer happens
///   until 3 Reorganizing   the same, until node 3 has that status, procedure or application
///   advance                until the next timer or silence, then `run`
///   settle                 with timers, until Assertion 2 has held for a while

namespace muster::test {

struct Command {
  std::string verb;
  std::uint32_t node = 0;
  std::uint32_t other = 0;
  std::string word;
};

/// Throws std::invalid_argument with the line in its text.
Command parse_command(std::string_view line);
std::vector<Command> parse_script(std::string_view text);
std::string to_line(const Command& command);

/// False if the command is not possible now, or if it is `until` or `settle` and never reaches its
/// state.
bool run(World& world, const Command& command);

}  // namespace muster::test
