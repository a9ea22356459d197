#include "apps/postgres/server/credentials.hpp"

#include "apps/base/text.hpp"
#include "apps/base/user.hpp"
#include "apps/postgres/server/conf.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace muster::postgres {
Expected<> look_at_key(const std::filesystem::path& key, uid_t user) {
  const auto refuse = [&key](const std::string& why) {
    return Failure{ExitCode::bad_configuration, key.string() + ": " + why};
  };
  struct stat found {};
  if (::stat(key.c_str(), &found) != 0)
    return refuse(std::string("this key cannot be read: ") + std::strerror(errno) +
                  "; copy the key from the node's bundle again");
  const std::string give = "chown -h " + apps::name_of(user) + " " + apps::shell_word(key.string());
  if (found.st_uid != user && found.st_uid != 0)
    return refuse("this key belongs to " + apps::name_of(found.st_uid) + ", but " +
                  apps::name_of(user) + " runs PostgreSQL: run " + give);
  const bool by_group = found.st_uid != user;  // root may let a group of this user read the key
  const mode_t others = by_group ? S_IWGRP | S_IXGRP | S_IRWXO : S_IRWXG | S_IRWXO;
  if ((found.st_mode & others) != 0)
    return refuse("other users may use this key: run chmod 0600 " + key.string() +
                  ", and make a new key if somebody may have read it");
  if (by_group && (found.st_mode & S_IRGRP) == 0)
    return refuse("only root may read this key, but " + apps::name_of(user) +
                  " runs PostgreSQL: run " + give);
  return {};
}

Expected<> look_at_keys(const InstanceOptions& options) {
  if (!options.credentials) return {};
  for (const auto& key : {options.credentials->server_key, options.credentials->client_key})
    if (auto right = look_at_key(key, ::geteuid()); !right) return right;
  return {};
}

Expected<> write_ident(const InstanceOptions& options) {
  std::string text = "# muster writes this file again with each start. Changes to it are lost.\n";
  const std::string user = apps::name_of(::geteuid());
  text += "muster root " + options.role + "\n";
  if (user != "root") text += "muster \"" + user + "\" " + options.role + "\n";
  return write_durably(ident_path(options), text);
}

std::string bundled_hba(const std::string& role) {
  const auto line = [&role](const std::string& kind, const std::string& of,
                            const std::string& how) { return kind + of + role + how + "\n"; };
  return "# The first line that fits decides whether a connection is allowed\n"
         "# (PostgreSQL: 21.1 The pg_hba.conf File).\n"
         "# After a change: SELECT pg_reload_conf()\n\n"
         "# By the socket of this node: root, and the user that runs PostgreSQL.\n" +
         line("local   ", "all         ", " peer map=muster") +
         line("local   ", "replication ", " peer map=muster") +
         "# The nodes: their certificates have that role as their common name. Since a\n"
         "# certificate proves the node, any address is allowed.\n" +
         line("hostssl ", "all         ", " all cert") +
         line("hostssl ", "replication ", " all cert") +
         "# No other client has that role or replicates. A client that calls itself n2 would\n"
         "# count as node 2, so a commit could be acknowledged that node 2 does not hold.\n" +
         line("host    ", "all         ", " all reject") +
         "host    replication all all reject\n"
         "# Clients: yours to change.\n"
         "hostssl all all all scram-sha-256\n";
}

}  // namespace muster::postgres
