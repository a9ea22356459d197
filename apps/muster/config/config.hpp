#pragma once

#include <muster/journal/detail.hpp>
#include <muster/net/tls.hpp>
#include <muster/protocol/cluster_text.hpp>
#include <muster/values/address.hpp>
#include <muster/values/failure.hpp>
#include <muster/values/log_level.hpp>
#include <muster/values/types.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The configuration of a node: one TOML file (docs/operating.md).

namespace muster::apps {

/// [cluster.postgres]: where the PostgreSQL of each node is reached (docs/postgres.md).
struct PostgresConfig {
  std::map<NodeId, Address> nodes;
  unsigned copies = 0;  ///< how many hold a commit before it is acknowledged, the primary included
  unsigned generation = 1;  ///< of the nodes and copies: each change is the next
};

/// [cluster]: the same on every node.
struct ClusterConfig {
  std::string name;
  ProtocolName protocol = ProtocolName::bully;
  bool insecure = false;
  bool proofs = true;  ///< docs/certificates.md
  Timings timings;
  Duration hold_down = std::chrono::seconds(1);  ///< docs/options.md; zero: off
  Duration calm = std::chrono::seconds(1);       ///< docs/options/calm.md; zero: off
  bool literal = false;                          ///< the paper's text, every switch off
  std::map<NodeId, std::uint64_t> importance;    ///< of the textbook protocol
  Options options;                               ///< of the Bully
  std::map<NodeId, Address> nodes;
  std::optional<PostgresConfig> postgres;

  /// Sorted `key=value` lines, defaults included: what nodes compare when they connect.
  [[nodiscard]] std::string canonical() const;
  [[nodiscard]] NodeSet ids() const;
  /// What `step` may know at that node.
  [[nodiscard]] ProtocolConfig core(NodeId self) const;
};

/// Sets that option; else says what is expected instead.
std::optional<std::string> read_option(std::string_view name, std::string_view text,
                                       Options& options);

struct JournalConfig {
  std::filesystem::path file;
  std::uint64_t limit = 64'000'000;  ///< bytes; then a new segment
  /// Bytes of all segments; then the oldest are deleted. Not told: 1 GB, or two segments.
  std::uint64_t keep = 1'000'000'000;
  journal::Detail detail = journal::Detail::all;
};

/// What the node says on standard error.
struct LogConfig {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;
  bool format_was_told = false;  ///< by the command line, which outweighs the file
};

/// Where the node tells by HTTP what it is and has counted (docs/watching.md).
struct HttpConfig {
  Address listen;
  bool insecure = false;
};

/// [application.tls]: what a node's PostgreSQL, and who speaks with the others' for it, prove of
/// themselves. Files in PEM, of absolute paths (docs/postgres.md).
struct PostgresTls {
  std::filesystem::path ca;           ///< the authorities that are believed
  std::filesystem::path crl{};        ///< certificates that were taken back; none where empty
  std::filesystem::path certificate;  ///< of the server, for the host that others dial
  std::filesystem::path key;
  std::filesystem::path client_certificate;  ///< of the superuser, at the others
  std::filesystem::path client_key;
};

/// An application that comes with the command.
struct ApplicationConfig {
  /// `none` (hooks return at once), `shards`, `postgres`, or `socket`: a program that connects to
  /// the node.
  std::string kind = "none";
  unsigned records_per_second = 20;
  std::vector<std::string> program{};  ///< of `socket`: what the node starts, with its arguments
  std::filesystem::path directory{};   ///< absolute, that of the file: where it runs
  bool inherit = false;                ///< it gets the node's whole environment
  bool witness = false;                ///< of `postgres`: it has no database, and votes
  std::filesystem::path database{};    ///< of `postgres`, absolute: where its data directory is
  std::filesystem::path programs{};    ///< of `postgres`, absolute: where PostgreSQL's own are
  std::string listen{};         ///< of `postgres`: where it listens; empty: where it is dialled
  std::filesystem::path hba{};  ///< of `postgres`: its pg_hba.conf; empty: that of the data
  std::optional<PostgresTls> tls{};  ///< of `postgres`; none: its connections are in plain text
};

/// Programs as hooks: each with its arguments; a hook without one does nothing.
struct HooksConfig {
  std::vector<std::string> stop;
  std::vector<std::string> reorganize;
  std::vector<std::string> start;
  std::filesystem::path directory;  ///< absolute, that of the file: where they run
  bool inherit = false;             ///< they get the node's whole environment
};

struct NodeConfig {
  std::filesystem::path file;  ///< where all this stands
  NodeId self;
  std::filesystem::path data;     ///< absolute: safe storage, lock, admin.sock
  std::optional<Address> listen;  ///< where it listens; none: where it is dialled
  ClusterConfig cluster;
  std::optional<net::TlsOptions> tls;  ///< of absolute paths
  std::optional<HttpConfig> http;
  std::optional<JournalConfig> journal;
  LogConfig log;
  ApplicationConfig application;
  std::optional<HooksConfig> hooks;

  [[nodiscard]] std::filesystem::path admin_socket() const { return data / "admin.sock"; }
  [[nodiscard]] std::filesystem::path application_socket() const {
    return data / "application.sock";
  }
  /// What `step` may know.
  [[nodiscard]] ProtocolConfig core() const;
};

/// The longest path of a Unix socket (sockaddr_un less its final zero).
inline constexpr std::size_t longest_socket_path = 107;

/// The most bytes of a configuration: far more than 64 nodes need.
inline constexpr std::size_t longest_config = 64 * 1024;

/// How far a configuration is looked into: whoever is to run the node has to find there what it
/// names, its programs and where its journal is to be.
enum class Look { at_text, at_files };

/// Reads a configuration. Where the file is wrong (exit 64) the sentence names file, line, value,
/// and what is expected.
Expected<NodeConfig> load_config(const std::filesystem::path& file, Look look = Look::at_text);

/// The same from text; `file` is only a name for the messages, and the place that relative paths
/// are relative to.
Expected<NodeConfig> parse_config(std::string_view text, const std::filesystem::path& file,
                                  Look look = Look::at_text);

/// A numeric address or the name of a host, and a port, in one text: "127.0.0.01:7101" and
/// "127.0.0.1:7101" are the same. None where it is neither.
std::optional<Address> address_of(const std::string& text);

/// One key as it stands in a file.
struct ConfigLine {
  std::string table;  ///< "node", "cluster.nodes"
  std::string key;
  std::string value;  ///< in TOML
  std::string usual;  ///< what it is where no file has it; empty: it has to be said
};

/// Every key that has a value, in the order of a file, whether one has said it or not.
std::vector<ConfigLine> config_lines(const NodeConfig& config);

/// The keys whose values are not the same in both, or stand in one alone: "cluster.T".
std::vector<std::string> keys_that_differ(const NodeConfig& one, const NodeConfig& other);

/// What stands behind the keys of a file.
enum class Remarks { none, at_defaults };

/// A file with every key, that `load_config` reads back to the same configuration.
std::string write_config(const NodeConfig& config, Remarks remarks = Remarks::none);

}  // namespace muster::apps
