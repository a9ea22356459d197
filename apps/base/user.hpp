#pragma once

#include <muster/values/failure.hpp>

#include <sys/types.h>

#include <string>

/// A command that root runs for another user changes to that user.

namespace muster::apps {

/// A user of this machine.
struct User {
  std::string name;
  uid_t id{};
  gid_t group{};
  std::string home;
  std::string shell;
};

/// Fails if this machine has no such user.
Expected<User> user_named(const std::string& name);
Expected<User> user_of(uid_t id);

/// The user's name, or the number if this machine has no name for it.
std::string name_of(uid_t id);

/// Makes this process run as that user, permanently: with the user's ids and groups, and without
/// any capability. The process keeps only standard input, output and error, and the few environment
/// variables that a service needs. The umask becomes 077. Does nothing if the process runs as that
/// user already. The caller must have no other thread and no open descriptor of its own.
Expected<> become(const User& user);

}  // namespace muster::apps
