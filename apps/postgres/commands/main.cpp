#include "apps/command_line/command_line.hpp"
#include "apps/command_line/part_commands.hpp"
#include "apps/postgres/commands/as_user.hpp"

#include <CLI/CLI.hpp>

#include <memory>

/// `muster postgres`: a node whose application is its PostgreSQL (docs/postgres.md).

namespace muster::postgres {
namespace {

void add_init(CLI::App& app, int& exit_code) {
  const auto flags = std::make_shared<InitFlags>();
  CLI::App* const command = app.add_subcommand(
      "init", "Make a cluster's files: for each node a bundle, with its certificates");
  command->add_option("--nodes", flags->nodes, "Where each node is dialled")
      ->option_text("HOST[:PORT],...")
      ->required();
  command->add_option("--witness", flags->witness, "And one without a database, beside two")
      ->option_text("HOST[:PORT]");
  command->add_option("--cluster", flags->cluster, "The cluster's name")->capture_default_str();
  command->add_option("--to", flags->directory, "A new directory [the cluster's name]")
      ->option_text("DIR");
  command
      ->add_option("--ca", flags->authority,
                   "The authority of a cluster that there is, whose nodes get this list next")
      ->option_text("DIR");
  command->add_option("--generation", flags->generation, "Of the list: each other one is the next")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  command->add_option("--port", flags->port, "PostgreSQL's")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  command->add_option("--node-port", flags->node_port, "A node's, where its host is named alone")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  command->footer("Nodes of this machine (localhost,localhost,localhost) get ports of their own.");
  command->callback([flags, &exit_code] { exit_code = init(*flags); });
}

void add_asking(CLI::App& app, int& exit_code) {
  const auto flags = std::make_shared<AskFlags>();
  const auto add = [&](const char* name, const char* what, const char* json,
                       int (*act)(const AskFlags&)) {
    CLI::App* const command = app.add_subcommand(name, what);
    command->add_option("--config", flags->config, "The configuration of the node (TOML)")
        ->required();
    command->add_flag("--json", flags->json, json);
    command->callback([flags, act, &exit_code] {
      const auto may = go_on_as_owner(flags->config);
      exit_code = may ? act(*flags) : apps::failed(may.error());
    });
  };
  add("check", "Ask the PostgreSQL of this machine whether its settings keep the promise",
      "One object with what was found", check);
  add("status", "Who is primary, how far the others are, and what a client can count on",
      "One object with all of it", status);
}

void add_adopting(CLI::App* create, Flags& flags) {
  CLI::Option* const adopt =
      create
          ->add_option("--adopt", flags.adopt,
                       "That of an existing database, which is moved: its data directory, or that "
                       "of its postgresql.conf")
          ->option_text("PGDATA");
  create
      ->add_flag(
          "--force", flags.force,
          "It is what one node still has of a cluster that is lost for ever; what the others "
          "had acknowledged besides is lost")
      ->needs(adopt);
}

void add_nodes(CLI::App& app, int& exit_code) {
  const auto flags = std::make_shared<Flags>();
  const auto add = [&](const char* name, const char* what, int (*act)(const Flags&),
                       Makes makes = Makes::directories) {
    CLI::App* const command = app.add_subcommand(name, what);
    flags->node.add_config_to(*command);
    command->add_option("--user", flags->user,
                        "The user of the database: root becomes that user before anything else");
    command->callback([flags, act, makes, &exit_code] {
      const auto may = go_on_as_user(*flags, makes);
      exit_code = may ? act(*flags) : apps::failed(may.error());
    });
    return command;
  };
  const auto takes_bundle = [&](CLI::App* command) {
    command->get_option("--config")->required(false);
    command->add_option("BUNDLE", flags->bundle, "A node's, that muster postgres init has made");
    command->add_option("--data", flags->directory, "Where it is put: a new directory")
        ->option_text("DIR");
    return command;
  };
  add_adopting(takes_bundle(add("create",
                                "Create the database of a new cluster, on one of its nodes, or "
                                "adopt one; the others clone it",
                                create)),
               *flags);
  takes_bundle(add("join", "Clone the database from another node, which runs", join))
      ->add_option("--from", flags->from, "From that node alone");
  flags->node.add_running_to(*add("run", "Run one node and its PostgreSQL in the foreground", run));
  add("rejoin", "Throw this node's database away and clone it anew from the primary, while it runs",
      rejoin, Makes::nothing);
  add("switch-over", "Let another node be primary, in order", switch_over, Makes::nothing)
      ->add_option("--to", flags->to, "Which node is to be primary")
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

int main(int argc, char** argv) {
  return muster::apps::run_program(muster::postgres::parse, argc, argv);
}
