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

/// The configuration of a node, which is one TOML file (docs/reference/configuration.md).

namespace muster::apps {

/// [cluster.postgres]: the address of each node's PostgreSQL (docs/reference/postgres.md).
struct PostgresConfig {
  std::map<NodeId, Address> nodes;
  unsigned copies = 0;  ///< nodes (primary too) that must have a commit before it is acknowledged
  unsigned generation = 1;  ///< number of this version of `nodes` and `copies`
};

/// [cluster]: it has to be the same on every node.
struct ClusterConfig {
  std::string name;
  ProtocolName protocol = ProtocolName::bully;
  bool insecure = false;
  bool proofs = true;  ///< docs/how-to/certificates.md
  Timings timings;
  Duration hold_down = std::chrono::seconds(1);  ///< docs/explanation/options.md; zero: off
  Duration calm = std::chrono::seconds(1);       ///< docs/explanation/options/calm.md; zero: off
  bool literal = false;                          ///< the paper's text: every switch is off
  std::map<NodeId, std::uint64_t> importance;    ///< for the textbook protocol
  Options options;                               ///< for the Bully
  std::map<NodeId, Address> nodes;
  std::optional<PostgresConfig> postgres;

  /// Sorted `key=value` lines, with all defaults. Nodes compare this text when they connect.
  [[nodiscard]] std::string canonical() const;
  [[nodiscard]] NodeSet ids() const;
  /// The part of the configuration that `step` uses at that node.
  [[nodiscard]] ProtocolConfig core(NodeId self) const;
};

/// Sets an option by its name. If the text is wrong, returns the expected values.
std::optional<std::string> read_option(std::string_view name, std::string_view text,
                                       Options& options);

struct JournalConfig {
  std::filesystem::path file;
  std::uint64_t limit = 64'000'000;  ///< the most bytes of a segment
  /// The most bytes of all segments together: the oldest ones are deleted. Default: 1 GB, or two
  /// segments if that is more.
  std::uint64_t keep = 1'000'000'000;
  journal::Detail detail = journal::Detail::all;
};

/// The log of the node, on standard error.
struct LogConfig {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;
  bool format_was_told = false;  ///< set on the command line, which overrides the file
};

/// The HTTP server with the node's state and metrics (docs/how-to/watching.md).
struct HttpConfig {
  Address listen;
  bool insecure = false;
};

/// [application.tls]: the certificates of a node's PostgreSQL, and of its own connections to the
/// PostgreSQL of other nodes. Files in PEM, with absolute paths (docs/reference/postgres.md).
struct PostgresTls {
  std::filesystem::path ca;           ///< the authorities to trust
  std::filesystem::path crl{};        ///< revoked certificates; empty: none
  std::filesystem::path certificate;  ///< the server's, for the host that others dial
  std::filesystem::path key;
  std::filesystem::path client_certificate;  ///< the superuser's, for connections to other nodes
  std::filesystem::path client_key;
};

/// The application of the node.
struct ApplicationConfig {
  /// `none` (hooks do nothing), `shards`, `postgres`, or `socket` (a program connects to the node
  /// and gets its hooks).
  std::string kind = "none";
  unsigned records_per_second = 20;
  std::vector<std::string> program{};  ///< for `socket`: the program that the node starts
  std::filesystem::path directory{};   ///< working directory: that of the configuration file
  bool inherit = false;                ///< pass all of the node's environment
  bool witness = false;                ///< for `postgres`: this node votes, but has no database
  std::filesystem::path database{};    ///< for `postgres`: its data directory, absolute
  std::filesystem::path programs{};    ///< for `postgres`: PostgreSQL's programs, absolute
  std::string listen{};         ///< for `postgres`: address to listen at; empty: the dialled one
  std::filesystem::path hba{};  ///< for `postgres`: its pg_hba.conf; empty: in its data directory
  std::optional<PostgresTls> tls{};  ///< for `postgres`; none: connections are in plain text
  unsigned wal_keep = 512;  ///< for `postgres`: WAL that a primary keeps for the others, in MB
  std::filesystem::path marker_key{};  ///< for `postgres`: the file of the marker keys, absolute
  /// For `postgres`: how often a primary repeats its marker.
  Duration marker_period = std::chrono::seconds(1);
  /// For `postgres`: after so long without a marker on its disk, a primary asks for an election.
  Duration marker_deadline = std::chrono::seconds(10);
};

/// Programs as hooks, each with its arguments. A hook without a program does nothing.
struct HooksConfig {
  std::vector<std::string> stop;
  std::vector<std::string> reorganize;
  std::vector<std::string> start;
  std::filesystem::path directory;  ///< working directory: that of the configuration file
  bool inherit = false;             ///< pass all of the node's environment
};

struct NodeConfig {
  std::filesystem::path file;  ///< the configuration file
  NodeId self;
  std::filesystem::path data;     ///< absolute: safe storage, lock, admin.sock
  std::optional<Address> listen;  ///< address to listen at; none: the address others dial
  ClusterConfig cluster;
  std::optional<net::TlsOptions> tls;  ///< with absolute paths
  std::optional<HttpConfig> http;
  std::optional<JournalConfig> journal;
  LogConfig log;
  ApplicationConfig application;
  std::optional<HooksConfig> hooks;

  [[nodiscard]] std::filesystem::path admin_socket() const { return data / "admin.sock"; }
  [[nodiscard]] std::filesystem::path application_socket() const {
    return data / "application.sock";
  }
  /// The part of the configuration that `step` uses.
  [[nodiscard]] ProtocolConfig core() const;
};

/// The longest path of a Unix socket, in bytes: sockaddr_un without its final zero.
inline constexpr std::size_t longest_socket_path = 107;

/// The most bytes of a configuration, far more than 64 nodes need.
inline constexpr std::size_t longest_config = 64 * 1024;

/// How much is checked. `at_files` also checks that the files which the configuration names exist:
/// programs, certificates, and the journal's directory. `at_files` is for a command that is about
/// to run the node.
enum class Look { at_text, at_files };

/// Reads a configuration file. If the file is wrong (exit code 64), the message names the file, the
/// line, the value, and what is expected.
Expected<NodeConfig> load_config(const std::filesystem::path& file, Look look = Look::at_text);

/// Parses the text of a configuration file. `file` is its name in messages, and relative paths are
/// relative to the directory of `file`.
Expected<NodeConfig> parse_config(std::string_view text, const std::filesystem::path& file,
                                  Look look = Look::at_text);

/// Parses a host's name or numeric address, with a port. Different texts of one address give the
/// same result, such as "[0::1]:7101" and "[::1]:7101". None if the text is neither a name nor an
/// address.
std::optional<Address> address_of(const std::string& text);

/// One key of a configuration file.
struct ConfigLine {
  std::string table;  ///< "node", "cluster.nodes"
  std::string key;
  std::string value;  ///< in TOML
  std::string usual;  ///< its default; empty: the key has to be given
};

/// All keys that have a value, in the order of a file. Includes keys that have their default.
std::vector<ConfigLine> config_lines(const NodeConfig& config);

/// The keys whose values differ, or that only one of the two has, such as "cluster.T".
std::vector<std::string> keys_that_differ(const NodeConfig& one, const NodeConfig& other);

/// Whether a written file has comments after its keys.
enum class Remarks { none, at_defaults };

/// The text of a file with every key, from which `load_config` reads the same configuration again.
std::string write_config(const NodeConfig& config, Remarks remarks = Remarks::none);

}  // namespace muster::apps
