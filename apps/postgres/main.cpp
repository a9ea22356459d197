#include "apps/base/failed.hpp"
#include "apps/muster/commands/run_node.hpp"
#include "apps/postgres/database.hpp"

#include <muster/values/text.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>

/// `muster postgres`: a node whose application is its PostgreSQL (docs/postgres.md).

namespace muster::postgres {
namespace {

namespace fs = std::filesystem;
using apps::NodeConfig;

/// Of who joins, with a node that is only just starting.
constexpr auto patience = std::chrono::seconds(60);
constexpr auto between_attempts = std::chrono::milliseconds(250);

struct Flags {
  apps::NodeFlags node;
  std::string user;
  std::uint32_t from = 0;  ///< 0: any other node
};

Failure wrong(const NodeConfig& config, const std::string& what) {
  return {ExitCode::bad_configuration, config.file.string() + ": " + what};
}

// PostgreSQL refuses to run as root.
Expected<Owner> owner_of(const std::string& user) {
  if (user.empty() && ::geteuid() != 0) return Owner{};
  if (user.empty())
    return Failure{ExitCode::bad_configuration,
                   "PostgreSQL does not run as root: run this as the user that is to have the "
                   "database, or name that user with --user postgres"};
  const passwd* const entry = ::getpwnam(user.c_str());
  if (entry == nullptr)
    return Failure{ExitCode::bad_configuration, "there is no user " + presentable(user) +
                                                    ": name one of this machine with --user"};
  return Owner{{entry->pw_uid, entry->pw_gid}};
}

Expected<InstanceOptions> options_of(const NodeConfig& config, const std::string& user) {
  if (config.application.kind != "postgres")
    return wrong(config, "has no [application] with kind = \"postgres\"; see docs/postgres.md");
  const auto owner = owner_of(user);
  if (!owner) return owner.error();
  InstanceOptions options;
  options.data = config.application.database / "data";
  options.programs = config.application.programs;
  options.sockets = config.application.database;
  options.node = config.self;
  for (const auto& [id, address] : config.cluster.postgres->nodes)
    options.nodes[id] = {address.host, address.port};
  options.copies_of_commit = config.cluster.postgres->copies;
  options.user = *owner;
  std::error_code error;
  if (!fs::exists(options.programs / "postgres", error))
    return wrong(config, "there is no PostgreSQL at " + options.programs.string() +
                             ": install it (Debian: postgresql-15), or name where it is with "
                             "programs = \"...\" in [application]");
  return options;
}

/// The directory beside the data directory, for the user who runs PostgreSQL alone.
Expected<> make_directory(const InstanceOptions& options) {
  std::error_code error;
  const fs::path directory = options.data.parent_path();
  fs::create_directories(directory, error);
  if (!error) fs::permissions(directory, fs::perms::owner_all, error);
  if (!error && options.user &&
      ::chown(directory.c_str(), options.user->uid, options.user->gid) != 0)
    error = {errno, std::generic_category()};
  if (error)
    return Failure{
        ExitCode::bad_configuration,
        directory.string() + ": the database's directory cannot be made: " + error.message()};
  return {};
}

/// Of a node that has no database yet, and is to get one.
Expected<InstanceOptions> empty_place(const NodeConfig& config, const Flags& flags) {
  auto options = options_of(config, flags.user);
  if (!options) return options;
  std::error_code error;
  if (fs::exists(options->data, error))
    return wrong(config, "there is a database already at " + options->data.string() +
                             "; remove it first, if it may be lost");
  if (const auto made = make_directory(*options); !made) return made.error();
  return options;
}

int create(const Flags& flags) {
  const auto config = flags.node.load();
  if (!config) return apps::failed(config.error());
  const auto options = empty_place(*config, flags);
  if (!options) return apps::failed(options.error());
  boost::asio::io_context context(1);
  Expected<> outcome;
  const Creation creation(context.get_executor(), *options,
                          [&](const Expected<>& created) { outcome = created; });
  context.run();
  if (!outcome) return apps::failed(outcome.error());
  std::cout << "the database is at " << options->data.string()
            << "; run this node, let the others join, then run them\n";
  return 0;
}

/// Clones from the first node that lets it, and asks them all again for a while.
class Join {
 public:
  Join(boost::asio::io_context& context, const InstanceOptions& options, std::vector<NodeId> from)
      : context_(context),
        instance_(context.get_executor(), options, [](const Happening&) {}),
        again_(context),
        from_(std::move(from)) {}

  Expected<NodeId> clone() {
    try_next();
    context_.run();
    if (source_) return *source_;
    return Failure{ExitCode::unreachable,
                   "no node's PostgreSQL gave a clone: " + why_not_ +
                       "; run a node that has the database, then join again"};
  }

 private:
  void try_next() {
    if (tried_ == from_.size()) return try_all_again();
    const NodeId node = from_[tried_++];
    instance_.perform({{}, Clone{node}}, [this, node](const Happening& happening) {
      const auto* const failed = std::get_if<Failed>(&happening.what);
      if (failed == nullptr) {
        source_ = node;
        return;
      }
      why_not_ += (why_not_.empty() ? "node " : "; node ") + to_text(node) + ": " + failed->why;
      try_next();
    });
  }

  void try_all_again() {
    if (std::chrono::steady_clock::now() > until_) return;
    if (!std::exchange(waits_, true))
      std::cerr << "no clone yet: " << why_not_ << "; they are asked again for " << patience.count()
                << " s\n";
    again_.expires_after(between_attempts);
    again_.async_wait([this](auto) {
      tried_ = 0;
      why_not_.clear();
      try_next();
    });
  }

  boost::asio::io_context& context_;
  Instance instance_;
  boost::asio::steady_timer again_;
  const std::vector<NodeId> from_;
  std::size_t tried_ = 0;  ///< of them, this time
  bool waits_ = false;
  const std::chrono::steady_clock::time_point until_ = std::chrono::steady_clock::now() + patience;
  std::optional<NodeId> source_;
  std::string why_not_;
};

int join(const Flags& flags) {
  const auto config = flags.node.load();
  if (!config) return apps::failed(config.error());
  const auto options = empty_place(*config, flags);
  if (!options) return apps::failed(options.error());
  std::vector<NodeId> from;
  for (const auto& [id, address] : options->nodes)
    if (id != options->node && (flags.from == 0 || id.value == flags.from)) from.push_back(id);
  if (from.empty())
    return apps::failed({ExitCode::usage, "--from " + std::to_string(flags.from) +
                                              ": expected another node of [cluster.postgres]"});
  boost::asio::io_context context(1);
  const auto source = Join(context, *options, std::move(from)).clone();
  if (!source) return apps::failed(source.error());
  std::cout << "the database of node " << to_text(*source) << " is cloned to "
            << options->data.string() << "; run this node\n";
  return 0;
}

int run(const Flags& flags) {
  const auto config = flags.node.load();
  if (!config) return apps::failed_to_begin(config.error());
  const auto options = options_of(*config, flags.user);
  if (!options) return apps::failed_to_begin(options.error());
  if (const auto made = make_directory(*options); !made) return apps::failed_to_begin(made.error());
  std::error_code error;
  if (!fs::exists(options->data, error))
    return apps::failed_to_begin(
        wrong(*config, "there is no database at " + options->data.string() +
                           ": muster postgres join clones one here, and create makes that of a new "
                           "cluster, on one of its nodes"));
  apps::begin_alone(*config);
  Database database(*options, [&config](const std::string& sentence) {
    apps::say_in_log(*config, LogLevel::warning, sentence);
  });
  if (const auto begun = database.begin(); !begun) return apps::failed_to_begin(begun.error());
  return apps::run_node(*config, flags.node.initialise, database.application());
}

int parse(int argc, char** argv) {
  CLI::App app("PostgreSQL whose fail-over is a reorganization", "muster postgres");
  app.require_subcommand(1);
  int exit_code = 0;
  const auto flags = std::make_shared<Flags>();
  const auto add = [&](const char* name, const char* what, int (*act)(const Flags&)) {
    CLI::App* const command = app.add_subcommand(name, what);
    flags->node.add_to(*command);
    command->add_option("--user", flags->user, "Who has the database, where root runs this");
    command->callback([flags, act, &exit_code] { exit_code = act(*flags); });
    return command;
  };
  add("create", "Create the database of a new cluster, on one of its nodes; the others clone it",
      create);
  add("join", "Clone the database from another node, which runs", join)
      ->add_option("--from", flags->from, "From that node alone");
  add("run", "Run one node and its PostgreSQL in the foreground", run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return apps::failed({ExitCode::usage, std::string(error.what()) + "; see --help"});
  }
  return exit_code;
}

}  // namespace
}  // namespace muster::postgres

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return muster::postgres::parse(argc, argv);
  } catch (const std::exception& error) {
    return muster::apps::failed({muster::ExitCode::impossible_state,
                                 std::string("a defect in muster itself: ") + error.what() +
                                     "; report it with the command line"});
  }
}
