#include "apps/command_line/command_line.hpp"

#include "apps/base/failed.hpp"
#include "apps/command_line/described.hpp"

#include <CLI/CLI.hpp>
#include <boost/system/system_error.hpp>
#include <muster/values/json.hpp>

#include <csignal>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace muster::apps {
namespace {

// The name of the command that was parsed, with its subcommands.
std::string asked(const CLI::App& app) {
  const auto read = app.get_subcommands();
  return app.get_name() + (read.empty() ? "" : ' ' + asked(*read.front()));
}

// The name of the command that was parsed, followed by the first word that names no command. None
// if the commands before that word need no subcommand.
std::optional<std::string> asked_in_vain(const CLI::App& app, const char* const* words) {
  const std::string word = *words == nullptr ? "" : *words;
  if (app.get_require_subcommand_min() == 0 || word.empty() || word.front() == '-') return {};
  const auto named =
      app.get_subcommands([&](const CLI::App* one) { return one->check_name(word); });
  if (named.empty()) return app.get_name() + ' ' + word;
  const auto vain = asked_in_vain(*named.front(), words + 1);
  return vain ? std::optional(app.get_name() + ' ' + *vain) : std::nullopt;
}

// A resource that is exhausted now can be available later. Every other exception is a defect.
Failure failure_of(const std::exception& error) {
  std::error_code code;
  if (const auto* one = dynamic_cast<const std::system_error*>(&error)) code = one->code();
  if (const auto* one = dynamic_cast<const boost::system::system_error*>(&error))
    code = one->code();
  if (code == std::errc::too_many_files_open || code == std::errc::too_many_files_open_in_system)
    return {ExitCode::temporary, std::string(error.what()) + ": " + no_descriptors};
  if (code == std::errc::resource_unavailable_try_again)
    return {ExitCode::temporary, std::string(error.what()) +
                                     ": no thread is left: raise the limit (ulimit -u) or end "
                                     "processes with many threads, then try again"};
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return {ExitCode::temporary,
            "there is no memory left: raise the limit or end processes that use much of it, then "
            "try again"};
  return {ExitCode::impossible_state, std::string("a defect in muster itself: ") + error.what() +
                                          "; report it with the command line"};
}

}  // namespace

int run_command(CLI::App& app, int argc, char** argv, const int& exit_code) {
  if (argc == 2 && std::string_view(argv[1]) == "--describe") {
    std::cout << to_json(described(app)) << '\n';
    return 0;
  }
  if (const auto vain = asked_in_vain(app, argv + 1))
    return failed({ExitCode::usage, "there is no command '" + *vain + "'; see " +
                                        vain->substr(0, vain->rfind(' ')) + " --help"});
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return failed({ExitCode::usage, std::string(error.what()) + "; see " + asked(app) + " --help"});
  }
  return exit_code;
}

int run_program(int (*run)(int argc, char** argv), int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // write(2) reports a closed pipe as an error
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    return failed(failure_of(error));
  }
}

}  // namespace muster::apps
