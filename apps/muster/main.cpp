#include "apps/base/failed.hpp"
#include "apps/muster/commands/commands.hpp"

#include <CLI/CLI.hpp>
#include <boost/system/system_error.hpp>

#include <csignal>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace muster::apps {
namespace {

// The command that was meant, as far as it was read.
std::string asked(const CLI::App& app) {
  const auto read = app.get_subcommands();
  return app.get_name() + (read.empty() ? "" : ' ' + asked(*read.front()));
}

// As asked(), with the first word that names no command where one has to be named.
std::optional<std::string> asked_in_vain(const CLI::App& app, const char* const* words) {
  const std::string word = *words == nullptr ? "" : *words;
  if (app.get_require_subcommand_min() == 0 || word.empty() || word.front() == '-') return {};
  const auto named =
      app.get_subcommands([&](const CLI::App* one) { return one->check_name(word); });
  if (named.empty()) return app.get_name() + ' ' + word;
  const auto vain = asked_in_vain(*named.front(), words + 1);
  return vain ? std::optional(app.get_name() + ' ' + *vain) : std::nullopt;
}

int run(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "postgres") return become_postgres(argv + 1);
  CLI::App app("Elections and reorganization in fail-stop systems", "muster");
  app.set_version_flag("--version", "muster " MUSTER_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  int exit_code = 0;
  add_demo_command(app, exit_code);
  add_node_command(app, exit_code);
  add_run_command(app, exit_code);
  add_status_command(app, exit_code);
  add_members_command(app, exit_code);
  add_top_command(app, exit_code);
  add_wait_command(app, exit_code);
  add_why_command(app, exit_code);
  add_history_command(app, exit_code);
  add_step_down_command(app, exit_code);
  add_drain_command(app, exit_code);
  add_elect_command(app, exit_code);
  add_reload_command(app, exit_code);
  add_check_command(app, exit_code);
  add_verify_command(app, exit_code);
  add_replay_command(app, exit_code);
  add_draw_command(app, exit_code);
  add_simulate_command(app, exit_code);
  add_election_command(app, exit_code);
  add_config_command(app, exit_code);
  add_store_command(app, exit_code);
  add_init_command(app, exit_code);
  add_cert_command(app, exit_code);
  add_postgres_command(app);
  add_completion_command(app, exit_code);
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

// What this process cannot get now it may get later; whatever else is thrown is a defect.
Failure failure_of(const std::exception& error) {
  std::error_code code;
  if (const auto* one = dynamic_cast<const std::system_error*>(&error)) code = one->code();
  if (const auto* one = dynamic_cast<const boost::system::system_error*>(&error))
    code = one->code();
  if (code == std::errc::too_many_files_open || code == std::errc::too_many_files_open_in_system)
    return {ExitCode::temporary, std::string(error.what()) + ": " + no_descriptors};
  if (code == std::errc::resource_unavailable_try_again)
    return {ExitCode::temporary, std::string(error.what()) +
                                     ": no thread is left for it: raise the limit (ulimit -u), or "
                                     "end what holds them, then try again"};
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return {ExitCode::temporary,
            "there is no memory left: raise the limit, or end what holds it, then try again"};
  return {ExitCode::impossible_state, std::string("a defect in muster itself: ") + error.what() +
                                          "; report it with the command line"};
}

}  // namespace
}  // namespace muster::apps

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write(2), where it is looked at
  try {
    return muster::apps::run(argc, argv);
  } catch (const std::exception& error) {
    return muster::apps::failed(muster::apps::failure_of(error));
  }
}
