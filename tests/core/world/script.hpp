#pragma once

#include "world.hpp"

#include <string>
#include <string_view>
#include <vector>

/// Scripts for the test world: one command a line, `#` begins a comment.
///
///   recover 3 · fail 3 [silent] · pause 3 · resume 3 · leave 3 · differ 3
///   fail_after 3 2         node 3 fails when it has performed two more actions
///   deliver 3 2            2 reads what came from 3, up to the next letter
///   connect 3 2 · refuse 3 2 · silence 3 2 · lose 3 2            see World
///   reset 3 2 · cut 3 2 · heal                                   likewise
///   repeat 3 2 Halt        2 is given the last Halt that 3 sent it once more, past its sessions
///   repeat 3 2 Halt 1      the same, the one that 3 sent it first
///   expire 3 check · end_hook 3 · fail_hook 3 · end_hook_late 3
///   hold 3 · release 3     run, until and settle let no hook of 3 end, or again
///   run                    everything that needs no timer
///   until 3 Reorganizing   the same, until node 3 has that status, procedure or application
///   advance                until the next timer or silence, and run
///   settle                 with timers, until Assertion 2 has held for a while

namespace muster::test {

struct Command {
  std::string verb;
  std::uint32_t node = 0;
  std::uint32_t other = 0;
  std::string word;
};

/// Throws std::invalid_argument that names the line.
Command parse_command(std::string_view line);
std::vector<Command> parse_script(std::string_view text);
std::string to_line(const Command& command);

/// False where the command is not possible now, and where `until` and `settle` do not come to it.
bool run(World& world, const Command& command);

}  // namespace muster::test
