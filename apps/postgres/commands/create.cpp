#include "apps/postgres/commands/commands.hpp"
#include "apps/postgres/perform/instance.hpp"

#include <boost/asio/io_context.hpp>

#include <iostream>

namespace muster::postgres {

int create(const Flags& flags) {
  const auto config = node_of(flags);
  if (!config) return apps::failed(config.error());
  if (!flags.adopt.empty()) return adopt(flags, *config);
  auto options = empty_place(*config, flags);
  if (!options) return apps::failed(options.error());
  if (const auto made = make_marker_key(*config, *options, false); !made)
    return apps::failed(made.error());
  boost::asio::io_context context(1);
  Expected<> outcome;
  const Creation creation(context.get_executor(), *options,
                          [&](const Expected<>& created) { outcome = created; });
  context.run();
  if (!outcome) return apps::failed(outcome.error());
  std::cout << "the database is at " << options->data.string()
            << "; next: run this node, join the others (muster postgres join), then run them\n";
  return 0;
}

}  // namespace muster::postgres
