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

/// What the commands have in common that speak to one node of this machine.

namespace muster::apps {

/// How long a node may take to answer; longer than any T that one would watch by hand.
inline constexpr Duration patience = std::chrono::seconds(2);

/// Which node, and how to tell of it.
struct OneNode {
  std::string config;
  std::string dir;
  bool json = false;

  /// The directory that has its socket and its safe storage.
  [[nodiscard]] Expected<std::filesystem::path> directory() const;
};

/// Adds --config, --dir and --json; `json` says what is printed then.
void add_options(CLI::App& command, OneNode& node, const std::string& json);
/// Throws the usage error where neither --config nor --dir was given.
void demand(const OneNode& node);

/// Says that word at the node's socket and gives its answer; fails where it refuses.
Expected<std::string> tell_node(const std::string& socket, const std::string& word);

Expected<net::NodeStatus> parse_status(const std::string& line);

/// A table of statuses: its first line, and a line of it.
void print_header(std::ostream& out);
void print_status(std::ostream& out, const net::NodeStatus& status);

/// "; node 1 is held for 812.3 ms more", for each that this coordinator does not let in yet.
std::string held_in_words(const net::NodeStatus& status);

/// "its coordinator was heard 12.3 ms ago"; empty where it has none, or is it.
std::string heard_in_words(const net::NodeStatus& status);

/// "its certificate holds for 364 days"; empty where it has none.
std::string certificate_in_words(const net::NodeStatus& status);

/// Why it is not to be taken for Normal; nothing where it is: it says so, and where it is a member
/// its coordinator was heard lately.
std::optional<Failure> not_normal(const net::NodeStatus& status);

/// "node 3 is Normal in group 17.5 under node 5", "node 3 is in Election", "node 3 is drained".
std::string in_words(const net::NodeStatus& status);
/// What its owner is to do where others differ.
std::string cure_of_differences(const net::NodeStatus& status);

}  // namespace muster::apps
