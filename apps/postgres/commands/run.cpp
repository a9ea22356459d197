#include "apps/postgres/commands/commands.hpp"
#include "apps/postgres/database.hpp"

namespace muster::postgres {

int run(const Flags& flags) {
  const auto config = flags.node.load();
  if (!config) return apps::failed_to_begin(config.error());
  const auto options = options_of(*config, flags);
  if (!options) return apps::failed_to_begin(options.error());
  if (const auto made = make_directory(*options); !made) return apps::failed_to_begin(made.error());
  std::error_code error;
  if (!std::filesystem::exists(options->data, error))
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

}  // namespace muster::postgres
