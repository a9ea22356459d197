#pragma once

#include "apps/postgres/durable.hpp"
#include "apps/postgres/values.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

/// What is configured of a node's PostgreSQL, and of those of the others.

namespace muster::postgres {

struct Address {
  std::string host;  ///< best a number: who has to look it up waits for that
  std::uint16_t port{};
};

/// How nodes show each other who they are; whatever is empty is left to libpq.
struct Credentials {
  std::filesystem::path password_file;  ///< `passfile`
  std::filesystem::path certificate;    ///< `sslcert`
  std::filesystem::path key;            ///< `sslkey`
  std::filesystem::path authority;      ///< `sslrootcert`, which asks for `sslmode=verify-full`
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
  std::string role = "postgres";    ///< a superuser
  std::string database = "postgres";
  Credentials credentials;
  unsigned segment_megabytes = 1;               ///< of the log, where the database is created here
  std::map<std::string, std::string> settings;  ///< others than ours, for its command line
  /// After so long without a step of recovery, whose source's log is missing, it is given up.
  Duration longest_standstill = std::chrono::seconds(15);
  Owner user;  ///< whose rights PostgreSQL gets; none: this process's

  [[nodiscard]] Copies copies() const;
};

}  // namespace muster::postgres
