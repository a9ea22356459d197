#include "apps/base/text.hpp"
#include "apps/base/user.hpp"
#include "apps/postgres/commands/commands.hpp"
#include "apps/postgres/decide/choose.hpp"
#include "apps/postgres/perform/database.hpp"
#include "apps/postgres/perform/group.hpp"
#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/marker.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

namespace muster::postgres {
namespace {

/// How long the node waits for PostgreSQL to recover before it takes part. Until then the group
/// does without the node, but the operator wants to see soon that the node runs.
constexpr Duration patience_with_recovery = std::chrono::seconds(10);

// Refuses a database that is no copy of this cluster's database. Otherwise the node would replace
// that database by a clone.
Expected<> is_of_this_node(const apps::NodeConfig& config, const InstanceOptions& options) {
  const auto held = read_held(options);
  if (!held) return held.error();
  const auto system = system_identifier_in(options.data);
  if (!*held || !system || *system == (*held)->system) return {};
  return wrong(
      config,
      "the database at " + options.data.string() +
          " is not the one that this node had: its system identifier is " +
          std::to_string(*system) + ", not " + std::to_string((*held)->system) +
          "; restore the node's own database, or move this one away and let the node join again");
}

// A node can change from one node list only to the next list. If two lists were in force at once,
// each could have a primary that writes. If the file that records the node's list is gone, the
// node's data still names the list.
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

// Without the key, this node finds no marker in any log. If all nodes lack it, all of them would
// throw their data away for a clone.
Expected<> has_marker_key(const apps::NodeConfig& config, const InstanceOptions& options) {
  const auto system = system_identifier_in(options.data);
  const auto known = read_known_terms(options, system.value_or(0));
  if (!known) return known.error();
  if (!known->rows_ended || !options.marker_keys.empty()) return {};
  return wrong(config, "this node has no marker key at " + config.application.marker_key.string() +
                           ", and cannot read its own log without it: copy that file from another "
                           "node, or from the directory ca that muster postgres init has made");
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
  if (const auto has = has_marker_key(config, options); !has) return has;
  // If the safe storage was lost, the database may have been replaced by an older database as well.
  if (initialise) {
    if (const auto noted = write_note(options, Note{}); !noted) return noted;
    if (const auto forgotten = forget_promise(options); !forgotten) return forgotten;
  }
  return write_copies(options);
}

// Must be called before the node makes its store: `join` takes a store as a sign that the node has
// taken part before, and then a clone does not count as data.
Expected<> has_data_or_is_cloned(const apps::NodeConfig& config, const InstanceOptions& options) {
  std::error_code error;
  if (std::filesystem::exists(options.data, error) ||
      std::filesystem::exists(note_path(options), error))
    return {};
  return wrong(config, "there is no database at " + options.data.string() +
                           ": clone it with muster postgres join, or, on the first node of a new "
                           "cluster, make it with muster postgres create");
}

// Checks that the store belongs to the user of this process. It may belong to root, because older
// versions of Muster ran as root, although PostgreSQL did not.
Expected<> store_is_this_users(const apps::NodeConfig& config) {
  struct stat found {};
  if (::geteuid() == 0 || ::lstat(config.data.c_str(), &found) != 0 || found.st_uid != 0) return {};
  const std::string user = apps::name_of(::geteuid());
  return wrong(config, "the node's directory, " + config.data.string() +
                           ", belongs to root, but the node runs as " + user +
                           ": as root, run once: chown -hR " + user + ": " +
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
  // With --initialise the node needs no data, because it is cloned.
  if (const auto has = has_data_or_is_cloned(*config, *options); !has && !flags.node.initialise)
    return apps::failed_to_begin(has.error());
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
