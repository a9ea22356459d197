#pragma once

#include "apps/postgres/decide/values.hpp"
#include "apps/postgres/server/durable.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

/// What is configured of a node's PostgreSQL, and of those of the others.

namespace muster::postgres {

struct Address {
  std::string host;  ///< best a number: who has to look it up waits for that
  std::uint16_t port{};
};

/// How nodes show each other who they are: files in PEM.
struct Credentials {
  std::filesystem::path authority;
  std::filesystem::path revocations;  ///< none where empty
  std::filesystem::path server_certificate;
  std::filesystem::path server_key;
  std::filesystem::path client_certificate;  ///< its common name is the role
  std::filesystem::path client_key;
};

struct InstanceOptions {
  /// The data directory. Beside it, in a directory that belongs to who runs PostgreSQL, are
  /// muster.conf, muster.note, postgres.log and, while one is made, a clone.
  std::filesystem::path data;
  std::filesystem::path programs = "/usr/lib/postgresql/15/bin";
  std::filesystem::path sockets;  ///< where its Unix socket is
  NodeId node;
  std::map<NodeId, Address> nodes;  ///< this one among them: it listens there
  unsigned copies_of_commit = 2;    ///< W, at least 2
  NodeSet witnesses{};              ///< those that have no database, and vote
  std::uint32_t generation = 1;     ///< of `nodes` and W: each change is the next
  std::string role = "postgres";    ///< a superuser
  std::string database = "postgres";
  std::optional<Credentials> credentials;  ///< none: connections are in plain text
  std::string listen;                      ///< `listen_addresses`; empty: the host of its address
  std::filesystem::path hba;               ///< `hba_file`; empty: that of the data directory
  unsigned segment_megabytes = 1;          ///< of the log, where the database is created here
  std::map<std::string, std::string> settings;  ///< others than ours, for its command line
  /// After so long without a step of recovery, whose source's log is missing, it is given up.
  Duration longest_standstill = std::chrono::seconds(15);
  /// How often the node remembers what its data holds.
  Duration remembers_every = std::chrono::seconds(5);
  /// How often the node looks at how its PostgreSQL is set.
  Duration between_checks = std::chrono::minutes(1);
  /// While it is there, the safe storage may be from before what this node was promised.
  std::filesystem::path forgotten;

  [[nodiscard]] Copies copies() const;
};

}  // namespace muster::postgres
