#pragma once

#include <muster/net/status.hpp>
#include <muster/values/failure.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <string>

namespace CLI {
class App;
}

/// Functions for the commands that talk to one node of this machine.

namespace muster::apps {

/// Time that a node has to answer. It is longer than any T of a node that is watched by hand.
inline constexpr Duration admin_patience = std::chrono::seconds(2);

/// The node to talk to, and the form of the output.
struct OneNode {
  std::string config;
  std::string dir;
  bool json = false;

  /// The directory with the node's socket and its safe storage.
  [[nodiscard]] Expected<std::filesystem::path> directory() const;
};

/// Adds --config, --dir and --json. `json` is the help text of --json.
void add_options(CLI::App& command, OneNode& node, const std::string& json);
/// Throws a usage error if neither --config nor --dir was given.
void demand(const OneNode& node);

/// Sends a request to the node's socket and returns its answer. Fails if the node refuses.
Expected<std::string> tell_node(const std::string& socket, const std::string& word);

Expected<net::NodeStatus> parse_status(const std::string& line);

/// Prints the header line of a table of statuses, and one line of the table.
void print_header(std::ostream& out);
void print_status(std::ostream& out, const net::NodeStatus& status);

/// For each node that this coordinator keeps out for now: "; node 1 is held for 812.3 ms more".
std::string held_in_words(const net::NodeStatus& status);

/// When the node last heard its coordinator: "its coordinator was heard 12.3 ms ago". Empty if the
/// node has no coordinator, or is the coordinator itself.
std::string heard_in_words(const net::NodeStatus& status);

/// How long the node's certificate is valid: "its certificate holds for 364 days". Empty if the
/// node has no certificate.
std::string certificate_in_words(const net::NodeStatus& status);

/// The reason why the node cannot be considered Normal, if there is one. A node is considered
/// Normal if its status is Normal and, unless it is the coordinator, it has heard its coordinator
/// lately. The failure ends with `otherwise`, unless the node's owner can do something better.
std::optional<Failure> not_normal(const net::NodeStatus& status,
                                  const std::string& otherwise = "ask again");

/// Describes a status in a clause: "node 3 is Normal in group 17.5 under node 5", "node 3 is in
/// Election", "node 3 is drained".
std::string in_words(const net::NodeStatus& status);
/// The advice to the owner of a node whose configuration, certificate or store differs from what
/// other nodes expect.
std::string cure_of_differences(const net::NodeStatus& status);

}  // namespace muster::apps
