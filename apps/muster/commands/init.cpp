#include "apps/base/failed.hpp"
#include "apps/base/text.hpp"
#include "apps/base/write_file.hpp"
#include "apps/certificates/files.hpp"
#include "apps/certificates/issued.hpp"
#include "apps/muster/commands/commands.hpp"
#include "apps/muster/config/config.hpp"

#include <CLI/CLI.hpp>

#include <stdlib.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>

// `muster init`: a cluster's files, a directory a node.

namespace muster::apps {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using certificates::Authority;

constexpr certificates::Days a_year(365);

struct InitOptions {
  std::string nodes;
  std::string cluster = "muster";
  std::string directory;
  std::uint16_t port = 7100;
  bool observer = false;
};

constexpr const char* observer = "observer";

/// A directory that is to be copied to whoever uses it.
struct Part {
  std::string name;  ///< "n3", or that
  std::string certificate;
  std::string config;
};

Failure wrong(const std::string& why) {
  return {ExitCode::usage, "--nodes: " + why};
}

/// host, host:port, an address of IPv6 with brackets or without.
std::optional<Address> address_with(const std::string& host, unsigned port) {
  const bool bare = std::count(host.begin(), host.end(), ':') > 1 && !host.starts_with('[');
  if (const auto whole = bare ? std::nullopt : address_of(host)) return whole;
  return address_of((bare ? '[' + host + ']' : host) + ':' + std::to_string(port));
}

/// Nodes of one machine have a port each, counted from the first.
Expected<std::map<NodeId, Address>> addresses_of(const InitOptions& options) {
  constexpr unsigned most = 65535;
  std::map<NodeId, Address> nodes;
  std::set<Address> taken;
  unsigned port = options.port;
  std::uint32_t loopback = 0;
  std::uint32_t id = 0;
  std::istringstream hosts(options.nodes + ',');
  for (std::string host; std::getline(hosts, host, ',');) {
    auto address = address_with(host, std::min(port, most));
    if (!address)
      return wrong('"' + host +
                   "\" is no host that others can dial: expected an IP address or a "
                   "host's name, with or without a port, such as db1.example or 10.0.0.1:7101");
    if (address->host == "0.0.0.0" || address->host == "::")
      return wrong('"' + host +
                   "\" is every address of a machine: expected the one that others dial");
    if (address->is_loopback()) ++loopback, ++port;
    if (!taken.insert(*address).second)
      return wrong(address->text() +
                   " stands there twice: expected a host, or a port, for each node");
    nodes[NodeId{++id}] = *std::move(address);
  }
  if (loopback != 0 && loopback != id)
    return wrong(
        "a loopback address is each machine's own, and others could not dial it: expected "
        "loopback addresses for all nodes, or for none");
  return nodes;
}

std::string text_of(const NodeConfig& config, const std::string& head) {
  return "# " + head +
         "\n# docs/operating.md says what each key means; muster config check FILE what is wrong "
         "with a file.\n# [cluster] has to be the same on all nodes. Paths are relative to this "
         "file.\n\n" +
         write_config(config);
}

constexpr const char* programs = R"(
# "none" is a node that is there for its elections. To give it work (docs/programs.md):
# a program that runs while the node is Normal: muster run --config FILE -- PROGRAM ARGUMENTS
# or one that is there all the time and speaks with the node (docs/socket.md):
#   kind = "socket"
#   program = ["./worker"]
# or, with kind = "none", a program for each hook:
#   [hooks]
#   stop = ["./shards.py"]
#   reorganize = ["./shards.py"]
#   start = ["./shards.py"]
)";

std::vector<Part> parts_of(const InitOptions& options, const std::map<NodeId, Address>& nodes) {
  NodeConfig config;
  config.data = "data";
  config.cluster.name = options.cluster;
  config.cluster.nodes = nodes;
  Timings& timings = config.cluster.timings;
  timings.T = 250ms;  // of a machine that is shared, as in docs/operating.md
  timings.check_every = timings.T / 2;
  timings.coordinator_timeout = timings.check_every + timings.T;
  config.tls =
      net::TlsOptions{"tls/ca.crt", "tls/tls.crt", "tls/tls.key", "tls/crl.pem", options.cluster};
  std::vector<Part> parts;
  for (const auto& [id, address] : nodes) {
    config.self = id;
    const std::string number = std::to_string(id.value);
    parts.push_back({"n" + number, net::certificate_name(*config.tls, id),
                     text_of(config, "Node " + number + " of the cluster " + options.cluster +
                                         ", at " + address.text() + ": made by muster init.") +
                         programs});
  }
  if (options.observer)
    parts.push_back({observer, net::observer_name(*config.tls),
                     text_of(config, "For who only looks at the cluster " + options.cluster +
                                         ": muster members --config FILE. No node may run with "
                                         "it.")});
  return parts;
}

Expected<> write(const fs::path& directory, const InitOptions& options,
                 const std::vector<Part>& parts) {
  const auto authority = Authority::create(directory / "ca", options.cluster, 10 * a_year);
  if (!authority) return authority.error();
  for (const Part& part : parts) {
    const fs::path its = directory / part.name;
    for (const fs::path& each : {its, its / "tls"})
      if (auto made = certificates::make_private_directory(each); !made) return made;
    if (auto written = write_file(its / "muster.toml", part.config); !written) return written;
    const auto issued =
        certificates::issue_into(its / "tls", *authority, part.certificate, a_year, false);
    if (!issued) return issued.error();
    const Look look = part.name == observer ? Look::at_text : Look::at_files;  // runs no node
    if (const auto read = load_config(its / "muster.toml", look); !read) return read.error();
  }
  return {};
}

/// All of it at once under its name, or nothing: `write` fills it under another one.
Expected<> make(const fs::path& directory, const InitOptions& options,
                const std::vector<Part>& parts) {
  std::error_code error;
  if (directory.has_parent_path()) fs::create_directories(directory.parent_path(), error);
  std::string fresh = directory.string() + ".XXXXXX";
  if (::mkdtemp(fresh.data()) == nullptr)
    return certificates::cannot("make", directory, std::generic_category().message(errno));
  auto done = write(fresh, options, parts);
  if (done) {
    fs::rename(fresh, directory, error);  // in the place of an empty one, too
    if (!error) return {};
    done = certificates::cannot("make", directory, error.message());
  }
  fs::remove_all(fresh, error);
  return done;
}

void tell(const fs::path& directory, const std::vector<Part>& parts,
          const std::map<NodeId, Address>& nodes) {
  const std::string at = directory.string();
  std::cout << at << " has a directory for each node, n1" << (nodes.size() > 1 ? ", n2, ..." : "")
            << ", and ca, the authority of their certificates: keep ca off every node\n"
            << "next, for each node:\n  name its program, under [application] of its muster.toml, "
            << "and try: muster config check " << at << "/n*/muster.toml\n";
  if (!nodes.begin()->second.is_loopback()) {
    std::cout << "  copy it to its host:";
    const char* before = " ";
    for (const auto& [id, address] : nodes)
      std::cout << std::exchange(before, ", ") << 'n' << id.value << " to " << address.host;
    std::cout << '\n';
  }
  std::cout
      << "  start it: muster node --config n1/muster.toml, or with the package, in "
         "/var/lib/muster: systemctl enable --now muster@n1\nthen look at all: muster members "
         "--config "
      << at << '/' << parts.back().name
      << "/muster.toml\nTLS does not prove that a node is dead: that is what the system at "
         "its address says (docs/certificates.md)\n";
}

int init(const InitOptions& options) {
  if (!is_cluster_name(options.cluster))
    return failed({ExitCode::usage, "--cluster " + options.cluster +
                                        ": expected 1 to 64 letters, digits, '.', '_', '-'"});
  const auto nodes = addresses_of(options);
  if (!nodes) return failed(nodes.error());
  const fs::path directory =
      fs::path(options.directory.empty() ? options.cluster : options.directory) / "";
  const fs::path named = directory.parent_path();  // without a slash at its end
  std::error_code none;
  if (fs::exists(named, none) && !fs::is_empty(named, none))
    return failed({ExitCode::bad_configuration,
                   named.string() + " is there already, and not empty: name a new directory with "
                                    "--dir, or remove it"});
  const auto parts = parts_of(options, *nodes);
  for (const Part& part : parts)
    if (const auto read = parse_config(part.config, named / part.name / "muster.toml"); !read)
      return failed(read.error());
  if (const auto made = make(named, options, parts); !made) return failed(made.error());
  tell(named, parts, *nodes);
  return 0;
}

}  // namespace

void add_init_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<InitOptions>();
  CLI::App* command = app.add_subcommand(
      "init", "Make the files of a cluster: for each node a configuration and a certificate");
  command
      ->add_option(
          "--nodes", options->nodes,
          "Where each node is dialled, the lowest first: the last is the first coordinator")
      ->option_text("HOST[:PORT],...")
      ->required();
  command->add_option("--cluster", options->cluster, "The cluster's name")->capture_default_str();
  command->add_option("--dir", options->directory, "A new directory [the cluster's name]")
      ->option_text("DIR");
  command->add_option("--port", options->port, "Where a host is named without one")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  command->add_flag("--observer", options->observer,
                    "And a directory for who only looks: muster members");
  command->footer(
      "Nodes of this machine (localhost,localhost,localhost) get a port each. Exit codes: 0 made; "
      "2 "
      "usage;\n64 the directory is there; 74 an I/O error, and nothing was made.");
  command->callback([options, &exit_code] { exit_code = init(*options); });
}

}  // namespace muster::apps
