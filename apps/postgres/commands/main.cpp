#include "apps/command_line/command_line.hpp"
#include "apps/command_line/part_commands.hpp"
#include "apps/postgres/commands/as_user.hpp"

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

extern char** environ;

/// `muster postgres`: a node whose application is its PostgreSQL (docs/reference/postgres.md).

namespace muster::postgres {
namespace {

void add_init(CLI::App& app, int& exit_code) {
  const auto flags = std::make_shared<InitFlags>();
  CLI::App* const command = app.add_subcommand(
      "init", "Make the files of a cluster: a bundle for each node, with its certificates");
  command
      ->add_option("--nodes", flags->nodes,
                   "Hosts of the nodes, as the other nodes and clients reach them; at least three, "
                   "or two with --witness")
      ->option_text("HOST[:PORT],...")
      ->required();
  command
      ->add_option("--witness", flags->witness,
                   "Host of a third node, which has no database and only votes")
      ->option_text("HOST[:PORT]");
  command->add_option("--cluster", flags->cluster, "Name of the cluster")->capture_default_str();
  command
      ->add_option("--to", flags->directory, "New directory for the bundles [the cluster's name]")
      ->option_text("DIR");
  command
      ->add_option("--ca", flags->authority,
                   "Directory of an existing cluster's authority, to make the next node list of "
                   "that cluster")
      ->option_text("DIR");
  command
      ->add_option("--generation", flags->generation,
                   "Number of this node list; increase it by one whenever the list changes")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  command->add_option("--port", flags->port, "Port of PostgreSQL")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  command->add_option("--node-port", flags->node_port, "Port of each node whose HOST has no :PORT")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  command->footer(
      "If nodes share this machine (localhost,localhost,localhost), each gets its own ports.");
  command->callback([flags, &exit_code] { exit_code = init(*flags); });
}

void add_asking(CLI::App& app, int& exit_code) {
  const auto flags = std::make_shared<AskFlags>();
  const auto add = [&](const char* name, const char* what, const char* json,
                       int (*act)(const AskFlags&)) {
    CLI::App* const command = app.add_subcommand(name, what);
    command->add_option("--config", flags->config, "Configuration file of the node (TOML)")
        ->required();
    command->add_flag("--json", flags->json, json);
    command->callback([flags, act, &exit_code] {
      const auto may = go_on_as_owner(flags->config);
      exit_code = may ? act(*flags) : apps::failed(may.error());
    });
  };
  add("check",
      "Look in this machine's PostgreSQL for settings that endanger acknowledged commits or a "
      "fail-over",
      "Print the findings as one JSON object", check);
  add("status",
      "Show which node is the primary, how far the others are behind, and what clients can count "
      "on",
      "Print the status as one JSON object", status);
}

void add_adopting(CLI::App* create, Flags& flags) {
  CLI::Option* const adopt = create
                                 ->add_option("--adopt", flags.adopt,
                                              "Use an existing database, which is moved: its data "
                                              "directory, or the directory of its postgresql.conf")
                                 ->option_text("PGDATA");
  create
      ->add_flag("--force", flags.force,
                 "The adopted database is what one node still has of a cluster that is lost for "
                 "ever; commits that it lacks are lost")
      ->needs(adopt);
}

void add_nodes(CLI::App& app, int& exit_code) {
  const auto flags = std::make_shared<Flags>();
  const auto add = [&](const char* name, const char* what, int (*act)(const Flags&),
                       Makes makes = Makes::directories) {
    CLI::App* const command = app.add_subcommand(name, what);
    flags->node.add_config_to(*command);
    command->add_option(
        "--user", flags->user,
        "User that owns the database; if root runs this command, it continues as this user");
    command->callback([flags, act, makes, &exit_code] {
      const auto may = go_on_as_user(*flags, makes);
      exit_code = may ? act(*flags) : apps::failed(may.error());
    });
    return command;
  };
  const auto takes_bundle = [&](CLI::App* command) {
    command->get_option("--config")->required(false);
    command->add_option("BUNDLE", flags->bundle,
                        "Directory of this node's bundle, which muster postgres init has made");
    command
        ->add_option("--data", flags->directory,
                     "New directory for this node, into which the bundle is copied")
        ->option_text("DIR");
    return command;
  };
  add_adopting(takes_bundle(add("create",
                                "Create the database of a new cluster on its first node, or adopt "
                                "an existing one; the other nodes clone it",
                                create)),
               *flags);
  takes_bundle(
      add("join", "Prepare another node, which clones the database from a running node", join))
      ->add_option("--from", flags->from, "Number of the node to clone from [any node]");
  add("key", "Make a marker key for a cluster that has none, or another one", key, Makes::nothing)
      ->add_flag("--another", flags->another,
                 "Add a key, which signs once all nodes have it; then the older one can go");
  flags->node.add_running_to(*add("run", "Run one node and its PostgreSQL in the foreground", run));
  add("rejoin", "Clone the database of this node again from the primary, while the node runs",
      rejoin, Makes::nothing);
  add("switch-over", "Make another node the primary, without losing a commit", switch_over,
      Makes::nothing)
      ->add_option("--to", flags->to, "Number of the node that becomes the primary")
      ->required();
}

int parse(int argc, char** argv) {
  CLI::App app(apps::part_commands::postgres.what, "muster postgres");
  app.require_subcommand(1);
  int exit_code = 0;
  add_init(app, exit_code);
  add_nodes(app, exit_code);
  add_asking(app, exit_code);
  return apps::run_command(app, argc, argv, exit_code);
}

}  // namespace
}  // namespace muster::postgres

namespace {

// libpq takes each parameter that a session does not name from a variable such as PGHOSTADDR,
// PGSERVICE or PGTARGETSESSIONATTRS. A node that somebody starts from a shell with such variables
// would reach no server, or another one.
void forget_variables_of_libpq() {
  std::vector<std::string> names;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (text.starts_with("PG")) names.emplace_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names) ::unsetenv(name.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  forget_variables_of_libpq();
  return muster::apps::run_program(muster::postgres::parse, argc, argv);
}
