#pragma once

#include "apps/postgres/server/options.hpp"

#include <string>

/// Who may be whom: files of a bundle, and one that muster writes.

namespace muster::postgres {

/// The keys are there for who runs PostgreSQL, and for nobody else. PostgreSQL and libpq demand the
/// same, but each in its own way, and in the middle of a start.
Expected<> look_at_keys(const InstanceOptions& options);

/// pg_ident.conf: root and who runs PostgreSQL are its superuser, by its socket (map=muster).
Expected<> write_ident(const InstanceOptions& options);

/// pg_hba.conf of a bundle: the superuser and all replication by certificate or by the socket of
/// this machine, clients by TLS and a password.
std::string bundled_hba(const std::string& role);

}  // namespace muster::postgres
