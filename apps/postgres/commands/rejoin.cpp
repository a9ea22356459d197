#include "apps/hosting/one_node.hpp"
#include "apps/postgres/commands/commands.hpp"
#include "apps/postgres/server/conf.hpp"

#include <iostream>

namespace muster::postgres {

int rejoin(const Flags& flags) {
  const auto config = flags.node.load();
  if (!config) return apps::failed(config.error());
  const auto options = options_of(*config);
  if (!options) return apps::failed(options.error());
  const auto taken = apps::tell_node(admin_socket(*options).string(), "rejoin");
  if (!taken) {
    Failure failure = taken.error();
    if (failure.code == ExitCode::unreachable)
      failure.what += "; if the node does not run, move " + options->data.string() +
                      " away and let it join again";
    return apps::failed(failure);
  }
  std::cout << "this node now clones its database again from the primary; the old data is kept "
               "until the clone follows: see muster postgres status\n";
  return 0;
}

}  // namespace muster::postgres
