#pragma once

#include <muster/values/failure.hpp>

#include <sys/types.h>

#include <string>

/// A command that root runs for another user becomes that user.

namespace muster::apps {

/// A user of this machine.
struct User {
  std::string name;
  uid_t id{};
  gid_t group{};
  std::string home;
  std::string shell;
};

/// The error says that this machine has no such user.
Expected<User> user_named(const std::string& name);
Expected<User> user_of(uid_t id);

/// The user's name; the number if this machine has no name for it.
std::string name_of(uid_t id);

/// Makes this process one of that user, for good: its ids, its groups and no capability. Of what
/// root gave to the process it keeps standard input, output and error, and the few variables of the
/// environment that a service needs; its umask becomes 077. Does nothing if it is that user's
/// already. The caller has no other thread and no open descriptor of its own.
Expected<> become(const User& user);

}  // namespace muster::apps
