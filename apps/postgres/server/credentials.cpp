#include "apps/postgres/server/credentials.hpp"

#include "apps/base/text.hpp"
#include "apps/base/user.hpp"
#include "apps/postgres/server/conf.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace muster::postgres {
namespace {

Expected<> look_at(const std::filesystem::path& key, uid_t user) {
  const auto refuse = [&key](const std::string& why) {
    return Failure{ExitCode::bad_configuration, key.string() + ": " + why};
  };
  struct stat found {};
  if (::stat(key.c_str(), &found) != 0)
    return refuse(std::string("this key cannot be read: ") + std::strerror(errno) +
                  "; put the node's bundle there again");
  const std::string give = "chown -h " + apps::name_of(user) + " " + apps::shell_word(key.string());
  if (found.st_uid != user && found.st_uid != 0)
    return refuse("this key belongs to " + apps::name_of(found.st_uid) +
                  ", who does not run PostgreSQL: " + give);
  const bool by_group = found.st_uid != user;  // root's may be for a group that holds the user
  const mode_t others = by_group ? S_IWGRP | S_IXGRP | S_IRWXO : S_IRWXG | S_IRWXO;
  if ((found.st_mode & others) != 0)
    return refuse("this key is not its owner's alone: chmod 0600 " + key.string() +
                  ", and make another if somebody may have read it");
  if (by_group && (found.st_mode & S_IRGRP) == 0)
    return refuse("this key is for root alone, who does not run PostgreSQL: " + give);
  return {};
}

}  // namespace

Expected<> look_at_keys(const InstanceOptions& options) {
  if (!options.credentials) return {};
  for (const auto& key : {options.credentials->server_key, options.credentials->client_key})
    if (auto right = look_at(key, ::geteuid()); !right) return right;
  return {};
}

Expected<> write_ident(const InstanceOptions& options) {
  std::string text = "# Written by muster, anew with each start: what you write here is lost.\n";
  const std::string user = apps::name_of(::geteuid());
  text += "muster root " + options.role + "\n";
  if (user != "root") text += "muster \"" + user + "\" " + options.role + "\n";
  return write_durably(ident_path(options), text);
}

std::string bundled_hba(const std::string& role) {
  const auto line = [&role](const std::string& kind, const std::string& of,
                            const std::string& how) { return kind + of + role + how + "\n"; };
  return "# Who may connect, the first line that fits (PostgreSQL: 21.1 The pg_hba.conf File).\n"
         "# After a change: SELECT pg_reload_conf()\n\n"
         "# By the socket of this node: root, and who runs PostgreSQL.\n" +
         line("local   ", "all         ", " peer map=muster") +
         line("local   ", "replication ", " peer map=muster") +
         "# The nodes, by certificates with that role as their common name; from any address, as\n"
         "# the certificate is what proves it.\n" +
         line("hostssl ", "all         ", " all cert") +
         line("hostssl ", "replication ", " all cert") +
         "# Nobody else is that role, or replicates: one that calls itself n2 would be counted as\n"
         "# node 2, and commits would be acknowledged for copies that are no node's.\n" +
         line("host    ", "all         ", " all reject") +
         "host    replication all all reject\n"
         "# Clients: yours to change.\n"
         "hostssl all all all scram-sha-256\n";
}

}  // namespace muster::postgres
