#pragma once

#include "apps/postgres/decide/values.hpp"
#include "apps/postgres/server/durable.hpp"
#include "apps/postgres/server/marker_keys.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

/// The configuration of a node's PostgreSQL, and what the node needs to know of the other nodes'
/// PostgreSQL.

namespace muster::postgres {

struct Address {
  /// Best an IP address: if the host is a name, each connect blocks until the name has been looked
  /// up.
  std::string host;
  std::uint16_t port{};
};

/// The certificates and keys by which nodes prove their identity: files in PEM.
struct Credentials {
  std::filesystem::path authority;
  std::filesystem::path revocations;  ///< empty: no revocation list
  std::filesystem::path server_certificate;
  std::filesystem::path server_key;
  std::filesystem::path client_certificate;  ///< a certificate with the role as its common name
  std::filesystem::path client_key;
};

struct InstanceOptions {
  std::string cluster;  ///< the name of the cluster
  /// The data directory. The directory above it belongs to the user who runs PostgreSQL, and also
  /// contains muster.conf, muster.note, postgres.log and, during a clone, the new copy.
  std::filesystem::path data;
  std::filesystem::path programs = "/usr/lib/postgresql/15/bin";
  std::filesystem::path sockets;  ///< the directory of PostgreSQL's Unix socket
  NodeId node;
  /// All nodes with data and their addresses. The node itself listens at its own address.
  std::map<NodeId, Address> nodes;
  unsigned copies_of_commit = 2;  ///< W, at least 2
  NodeSet witnesses{};            ///< nodes without a database that vote
  /// Number of the list (`nodes` and W). Each change of the list takes the next number.
  std::uint32_t generation = 1;
  std::string role = "postgres";  ///< a superuser
  std::string database = "postgres";
  std::optional<Credentials> credentials;  ///< none: connections are in plain text
  std::string listen;                      ///< `listen_addresses`; empty: the host of its address
  std::filesystem::path hba;  ///< `hba_file`; empty: the pg_hba.conf in the data directory
  /// How much log a primary keeps for nodes that are away, in MB.
  unsigned wal_keep = 512;
  /// Segment size of the log, if the database is created here.
  unsigned segment_megabytes = 1;
  /// More settings for the command line, beside those of Muster.
  std::map<std::string, std::string> settings;
  /// After so long without progress, the node gives up a recovery that needs more log of its
  /// source.
  Duration longest_standstill = std::chrono::seconds(15);
  /// How often the node records its holding.
  Duration remembers_every = std::chrono::seconds(5);
  MarkerKeys marker_keys;  ///< none: rows of muster.term decide instead of markers
  /// How often a primary repeats its marker.
  Duration marks_every = std::chrono::seconds(1);
  /// If a primary has flushed no marker for so long, its node asks for an election.
  Duration longest_silence = std::chrono::seconds(10);
  /// How often the node checks the settings of its PostgreSQL.
  Duration between_checks = std::chrono::minutes(1);
  /// While this file exists, the safe storage may be older than the node's last promise.
  std::filesystem::path forgotten;

  [[nodiscard]] Copies copies() const;
};

}  // namespace muster::postgres
