#include "apps/base/text.hpp"
#include "apps/base/user.hpp"
#include "apps/postgres/commands/commands.hpp"
#include "apps/postgres/decide/choose.hpp"
#include "apps/postgres/perform/database.hpp"
#include "apps/postgres/perform/group.hpp"
#include "apps/postgres/server/conf.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

namespace muster::postgres {
namespace {

/// Nobody misses a node without data meanwhile; but its owner wants to see that it is there.
constexpr Duration patience_with_recovery = std::chrono::seconds(10);

// Who is no copy of this cluster would be thrown away for one that is.
Expected<> is_of_this_node(const apps::NodeConfig& config, const InstanceOptions& options) {
  const auto held = read_held(options);
  if (!held) return held.error();
  std::uint64_t system = 0;  // pg_control begins with it
  std::ifstream control(options.data / "global/pg_control", std::ios::binary);
  if (!*held || !control.read(reinterpret_cast<char*>(&system), sizeof system) ||
      system == (*held)->system)
    return {};
  return wrong(config, "the database at " + options.data.string() + " is another (system " +
                           std::to_string(system) + ") than this node had (" +
                           std::to_string((*held)->system) +
                           "): put its own back, or move it away and let the node join again");
}

// Two lists of nodes may only follow each other: two that work at once would both write. What it
// holds says by which list, too, where the file is gone.
Expected<> may_take_part(const apps::NodeConfig& config, const InstanceOptions& options) {
  const auto noted = read_copies(options);
  if (!noted) return noted.error();
  const auto held = read_held(options);
  if (!held) return held.error();
  const auto written = *held ? (*held)->copies : std::nullopt;
  for (const auto& before : {*noted, written}) {
    const std::string why = before ? why_never_after(*before, options.copies()) : "";
    if (!why.empty()) return wrong(config, "in [cluster.postgres] " + why);
  }
  return {};
}

Expected<> forget_promise(const InstanceOptions& options) {
  if (options.witnesses.empty()) return {};
  return write_durably(options.forgotten, "");
}

Expected<> make_ready(const apps::NodeConfig& config, const InstanceOptions& options,
                      bool initialise) {
  if (const auto made = make_directory(options); !made) return made;
  if (const auto its = is_of_this_node(config, options); !its) return its;
  if (const auto may = may_take_part(config, options); !may) return may;
  // What is said of its safe storage is true of its database: it may be from before.
  if (initialise) {
    if (const auto noted = write_note(options, Note{}); !noted) return noted;
    if (const auto forgotten = forget_promise(options); !forgotten) return forgotten;
  }
  std::error_code error;
  const bool is_to_be_cloned = std::filesystem::exists(note_path(options), error);
  if (!std::filesystem::exists(options.data, error) && !is_to_be_cloned)
    return wrong(config, "there is no database at " + options.data.string() +
                             ": muster postgres join clones one here, and create makes that of a "
                             "new cluster, on one of its nodes");
  return write_copies(options);
}

// Older versions ran as root, for all that PostgreSQL did not.
Expected<> store_is_this_users(const apps::NodeConfig& config) {
  struct stat found {};
  if (::geteuid() == 0 || ::lstat(config.data.c_str(), &found) != 0 || found.st_uid != 0) return {};
  const std::string user = apps::name_of(::geteuid());
  return wrong(config, "the node's directory, " + config.data.string() +
                           ", belongs to root, and the node runs as " + user +
                           ": as root, once, chown -hR " + user + ": " +
                           apps::shell_word(config.data.string()));
}

int run_witness(const apps::NodeConfig& config, const Flags& flags) {
  const auto options = options_in(config);
  if (!options) return apps::failed_to_begin(options.error());
  return apps::run_node(config, flags.node.initialise, [&]() -> Expected<MakeApplication> {
    if (flags.node.initialise)
      if (const auto forgotten = forget_promise(*options); !forgotten) return forgotten.error();
    return witness(options->copies(), options->forgotten);
  });
}

}  // namespace

int run(const Flags& flags) {
  const auto config = flags.node.load();
  if (!config) return apps::failed_to_begin(config.error());
  if (const auto its = store_is_this_users(*config); !its)
    return apps::failed_to_begin(its.error());
  if (config->application.witness) return run_witness(*config, flags);
  const auto options = options_of(*config);
  if (!options) return apps::failed_to_begin(options.error());
  std::optional<Database> database;
  return apps::run_node(*config, flags.node.initialise, [&]() -> Expected<MakeApplication> {
    if (const auto ready = make_ready(*config, *options, flags.node.initialise); !ready)
      return ready.error();
    database.emplace(*options, [&config](const std::string& sentence) {
      apps::say_in_log(*config, LogLevel::warning, sentence);
    });
    if (const auto begun = database->begin(); !begun) return begun.error();
    database->await_beginning(patience_with_recovery);
    return database->application();
  });
}

}  // namespace muster::postgres
