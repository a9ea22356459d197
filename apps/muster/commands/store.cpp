#include "apps/base/failed.hpp"
#include "apps/base/text.hpp"
#include "apps/muster/commands/commands.hpp"
#include "apps/muster/config/config.hpp"

#include <muster/storage/inspect.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>

// `muster store`: shows a node's safe storage, and checks it.

namespace muster::apps {
namespace {

/// The first line of `inspect --json`.
struct StoreLine {
  std::string store;
  std::string cluster;
  NodeId node;
  std::uint32_t format{};
  Incarnation incarnation;
  std::uint64_t counter_limit{};
  std::optional<GroupNumber> group;
  std::optional<Digest> definition;
  std::optional<std::uint64_t> definition_bytes;
  StateVector vector;
  std::map<NodeId, Incarnation> seen;
  std::uint64_t cells{};
  std::uint64_t cell_bytes{};
};
MUSTER_DESCRIBE(StoreLine, store, cluster, node, format, incarnation, counter_limit, group,
                definition, definition_bytes, vector, seen, cells, cell_bytes);

/// The line of each cell, after the first line.
struct CellLine {
  std::string cell;
  std::uint64_t bytes{};
  Digest digest;
};
MUSTER_DESCRIBE(CellLine, cell, bytes, digest);

/// The line of a cell with --values.
struct CellWithValue {
  std::string cell;
  std::uint64_t bytes{};
  Digest digest;
  Bytes value;
};
MUSTER_DESCRIBE(CellWithValue, cell, bytes, digest, value);

/// The line of `verify --json`.
struct VerdictLine {
  std::string store;
  bool holds = false;
  std::optional<NodeId> node;
  std::optional<std::uint64_t> cells;
  std::optional<std::string> why;
};
MUSTER_DESCRIBE(VerdictLine, store, holds, node, cells, why);

struct StoreOptions {
  std::string directory;
  std::string config;
  bool json = false;
  bool values = false;
};

// Bytes as one line of printable characters.
std::string printable(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F && c != '\\') {
      text += c;
    } else {
      text += {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
    }
  }
  return text;
}

std::string hexadecimal(Digest digest) {
  std::string quoted = to_json(digest);
  return quoted.substr(1, quoted.size() - 2);
}

std::string name_of(std::optional<NodeId> node) {
  return node ? std::to_string(node->value) : "-";
}

void print(const StoreLine& line) {
  std::cout << "store         " << line.store << "\nof            node " << line.node.value
            << " of cluster " << line.cluster << ", format " << line.format << "\nincarnation   "
            << line.incarnation.value << "\ncounter       at most " << line.counter_limit
            << "\ngroup         " << (line.group ? to_text(*line.group) : "-")
            << "\ndefinition    ";
  if (line.definition) {
    std::cout << hexadecimal(*line.definition) << ", " << *line.definition_bytes << " bytes\n";
  } else {
    std::cout << "-\n";
  }
  std::cout << "S(i).s        " << enumerator_name(line.vector.s) << "\nS(i).c        "
            << name_of(line.vector.c) << "\nS(i).h        " << name_of(line.vector.h)
            << "\nS(i).Up       " << (line.vector.up.empty() ? "-" : format_nodes(line.vector.up))
            << "\nseen          ";
  if (line.seen.empty()) std::cout << "-";
  const char* separator = "";
  for (const auto& [node, incarnation] : line.seen) {
    std::cout << separator << "node " << node.value << " in life " << incarnation.value;
    separator = ", ";
  }
  std::cout << "\ncells         " << line.cells << ", " << line.cell_bytes << " bytes\n";
}

void print(const CellWithValue& cell, bool with_value) {
  std::cout << "  " << hexadecimal(cell.digest) << "  " << cell.bytes << "  "
            << printable(cell.cell);
  if (with_value) std::cout << " = " << printable(cell.value.data);
  std::cout << '\n';
}

StoreLine line_of(const StoreOptions& options, const storage::Inspection& found,
                  const std::vector<CellWithValue>& cells) {
  const SafeState& safe = found.safe;
  StoreLine line;
  line.store = options.directory;
  line.cluster = found.identity.cluster;
  line.node = found.identity.node;
  line.format = found.format;
  line.incarnation = safe.incarnation;
  line.counter_limit = safe.counter_limit;
  if (safe.assigned) {
    line.group = safe.assigned->group;
    line.definition = digest(safe.assigned->definition.data);
    line.definition_bytes = safe.assigned->definition.data.size();
  }
  line.vector = safe.vector;
  line.seen = safe.seen;
  line.cells = cells.size();
  for (const CellWithValue& cell : cells) line.cell_bytes += cell.bytes;
  return line;
}

int inspect(const StoreOptions& options) {
  std::vector<CellWithValue> cells;
  const auto found =
      storage::inspect(options.directory, [&](std::string_view key, const Bytes& value) {
        cells.push_back({std::string(key), value.data.size(), digest(value.data),
                         options.values ? value : Bytes()});
      });
  if (!found) return failed(found.error());
  const StoreLine line = line_of(options, *found, cells);
  if (!options.json) {
    print(line);
    for (const CellWithValue& cell : cells) print(cell, options.values);
    return 0;
  }
  std::cout << to_json(line) << '\n';
  for (const CellWithValue& cell : cells)
    std::cout << (options.values ? to_json(cell)
                                 : to_json(CellLine{cell.cell, cell.bytes, cell.digest}))
              << '\n';
  return 0;
}

/// The cluster and node that the store has to belong to. None if --config was not given.
Expected<std::optional<storage::Identity>> wanted(const StoreOptions& options) {
  if (options.config.empty()) return std::optional<storage::Identity>();
  const auto config = load_config(options.config);
  if (!config) return config.error();
  return std::optional(storage::Identity{config->cluster.name, config->self});
}

int verify(const StoreOptions& options) {
  const auto identity = wanted(options);
  if (!identity) return failed(identity.error());
  VerdictLine line;
  line.store = options.directory;
  std::uint64_t cells = 0;
  const auto found = storage::verify(
      options.directory, [&](std::string_view, const Bytes&) { ++cells; },
      *identity ? &**identity : nullptr);
  line.holds = found.has_value();
  if (found) {
    line.node = found->identity.node;
    line.cells = cells;
  } else {
    line.why = found.error().what;
  }
  if (options.json) std::cout << to_json(line) << '\n';
  if (!found) return failed(found.error());
  if (!options.json)
    std::cout << line.store << " is intact: the store of node " << line.node->value << ", "
              << found->safe.incarnation.value << " lives, " << cells
              << " cells; every page and checksum is right, and a node would open it\n";
  return 0;
}

}  // namespace

void add_store_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<StoreOptions>();
  CLI::App* store = app.add_subcommand("store", "Print or check a node's safe storage");
  store->require_subcommand(1);
  const auto add = [&](const char* name, const char* what, int (*run)(const StoreOptions&)) {
    CLI::App* command = store->add_subcommand(name, what);
    command->add_option("DIR", options->directory, "The node's data directory")->required();
    command->add_flag("--json", options->json, "JSON Lines on standard output");
    command->callback([options, run, &exit_code] { exit_code = run(*options); });
    return command;
  };
  add("inspect",
      "Print the state, the last known lives of other nodes, and the cells; changes nothing",
      inspect)
      ->add_flag("--values", options->values, "Print the cells' values too");
  add("verify", "Check everything that a node checks when it opens its store; changes nothing",
      verify)
      ->add_option("--config", options->config,
                   "Configuration of the node; the store of another node is refused")
      ->option_text("FILE");
}

}  // namespace muster::apps
