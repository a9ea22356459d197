#pragma once

#include "apps/postgres/server/options.hpp"

#include <sys/types.h>

#include <filesystem>
#include <string>

/// Files for authentication: those of a bundle, and the pg_ident.conf that Muster writes.

namespace muster::postgres {

/// Checks that only `user`, who runs PostgreSQL, can read the file of a key.
Expected<> look_at_key(const std::filesystem::path& key, uid_t user);
/// Checks the keys of the certificates. PostgreSQL and libpq check these keys as well, but by
/// different rules, and only when the server is already starting.
Expected<> look_at_keys(const InstanceOptions& options);

/// Writes pg_ident.conf: root and the user who runs PostgreSQL can log in over the socket as the
/// superuser (map=muster).
Expected<> write_ident(const InstanceOptions& options);

/// The pg_hba.conf of a bundle. It admits the superuser and all replication by certificate or over
/// this machine's socket. It admits clients over TLS with a password.
std::string bundled_hba(const std::string& role);

}  // namespace muster::postgres
