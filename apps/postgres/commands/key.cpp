#include "apps/postgres/commands/commands.hpp"
#include "apps/postgres/server/durable.hpp"

#include <iostream>

namespace muster::postgres {

Expected<> make_marker_key(const apps::NodeConfig& config, InstanceOptions& options, bool another) {
  const auto& file = config.application.marker_key;
  auto keys = MarkerKeys::read(file);
  if (!keys) return keys.error();
  if (keys->empty() || another) {
    const auto before = read_text(file);
    if (!before) return before.error();
    if (auto made = write_durably(file, new_marker_key() + before->value_or("")); !made)
      return made;
    keys = MarkerKeys::read(file);
    if (!keys) return keys.error();
  }
  options.marker_keys = *std::move(keys);
  return {};
}

// While a file has two keys, the last one signs until all nodes have shown the first one.
int key(const Flags& flags) {
  const auto config = flags.node.load();
  if (!config) return apps::failed(config.error());
  auto options = options_of(*config);
  if (!options) return apps::failed(options.error());
  if (!options->marker_keys.empty() && !flags.another)
    return apps::failed(
        wrong(*config, config->application.marker_key.string() +
                           " has a marker key already: copy it to the other nodes, or add another "
                           "key with --another"));
  if (const auto made = make_marker_key(*config, *options, flags.another); !made)
    return apps::failed(made.error());
  std::string others;
  for (const auto& [id, address] : options->nodes)
    if (id != options->node) others += (others.empty() ? "" : ", ") + named(id);
  std::cout << config->application.marker_key.string()
            << " has a new marker key\nnext: copy this file to the same place on " << others
            << ", owned by the user that runs PostgreSQL and with mode 0600; then restart each "
               "node, the primary last\n";
  if (flags.another)
    std::cout << "then: once the log of the primary's node says that the first key signs, remove "
                 "the older lines from each file\n";
  else
    std::cout << "until all nodes have the key, rows of the table muster.term decide; the log of "
                 "the primary's node says when this ends\n";
  return 0;
}

}  // namespace muster::postgres
