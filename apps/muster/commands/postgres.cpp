#include "apps/base/failed.hpp"
#include "apps/muster/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <cerrno>
#include <filesystem>

/// A program of its own, so that nobody needs libpq who has no PostgreSQL.

namespace muster::apps {

int become_postgres(char** words) {
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  std::string program = (own.parent_path() / "muster-postgres").string();
  words[0] = program.data();
  ::execv(program.c_str(), words);
  return failed({ExitCode::usage,
                 program + ": " + std::generic_category().message(errno) +
                     "; it is in the package muster-postgres, and built where libpq is (Debian: "
                     "libpq-dev)"});
}

void add_postgres_command(CLI::App& app) {
  app.add_subcommand("postgres", "PostgreSQL whose fail-over is a reorganization");
}

}  // namespace muster::apps
