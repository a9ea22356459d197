#include "apps/base/user.hpp"

#include <muster/values/text.hpp>

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

extern char** environ;

namespace muster::apps {
namespace {

Failure refused(std::string why) {
  return {ExitCode::bad_configuration, std::move(why)};
}

User user_from(const passwd& entry) {
  return {entry.pw_name, entry.pw_uid, entry.pw_gid, entry.pw_dir, entry.pw_shell};
}

/// True for the variables that a service needs: for programs, language, output and supervision. The
/// rest of root's environment may contain secrets or name root's directories.
bool is_kept(std::string_view variable) {
  constexpr std::array names{"PATH",          "LANG",          "LANGUAGE",      "TZ",
                             "TERM",          "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
                             "JOURNAL_STREAM"};
  return variable.starts_with("LC_") ||
         std::find(names.begin(), names.end(), variable) != names.end();
}

void take_environment_of(const User& user) {
  std::vector<std::pair<std::string, std::string>> kept;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const auto end = std::min(text.find('='), text.size());
    if (is_kept(text.substr(0, end)))
      kept.emplace_back(text.substr(0, end), text.substr(std::min(end + 1, text.size())));
  }
  ::clearenv();
  for (const auto& [name, value] : kept) ::setenv(name.c_str(), value.c_str(), 1);
  ::setenv("HOME", user.home.c_str(), 1);
  ::setenv("SHELL", user.shell.c_str(), 1);
  for (const char* name : {"USER", "LOGNAME"}) ::setenv(name, user.name.c_str(), 1);
}

/// After this call the three standard descriptors are open, and no others.
bool keep_standard_descriptors() {
  if (::syscall(SYS_close_range, 3, ~0U, 0) != 0) return false;
  for (int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(number, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != number) return false;
  return true;
}

using Capabilities = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

long call_capabilities(long call, Capabilities& all) {
  __user_cap_header_struct header{};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  return ::syscall(call, &header, all.data());
}

/// Asks the kernel whether the change of user is complete, whatever the earlier calls returned.
bool is_for_good(const User& user) {
  uid_t id = 0, effective = 0, saved = 0;
  gid_t group = 0, effective_group = 0, saved_group = 0;
  Capabilities all{};
  return ::getresuid(&id, &effective, &saved) == 0 && id == user.id && effective == user.id &&
         saved == user.id && ::getresgid(&group, &effective_group, &saved_group) == 0 &&
         group == user.group && effective_group == user.group && saved_group == user.group &&
         call_capabilities(SYS_capget, all) == 0 &&
         std::all_of(all.begin(), all.end(),
                     [](const auto& each) { return each.effective == 0 && each.permitted == 0; }) &&
         ::setresuid(static_cast<uid_t>(-1), 0, static_cast<uid_t>(-1)) != 0;
}

bool take_rights_of(const User& user) {
  Capabilities none{};
  return ::initgroups(user.name.c_str(), user.group) == 0 &&
         ::setresgid(user.group, user.group, user.group) == 0 &&
         ::setresuid(user.id, user.id, user.id) == 0 && call_capabilities(SYS_capset, none) == 0;
}

/// A change of user makes the kernel forget that this process must end with its parent. This class
/// restores the setting.
class EndsWithParent {
 public:
  EndsWithParent() { ::prctl(PR_GET_PDEATHSIG, &signal_); }
  void again() const {
    if (signal_ == 0) return;
    ::prctl(PR_SET_PDEATHSIG, signal_);
    if (::getppid() != parent_) ::raise(signal_);  // the parent ended meanwhile
  }

 private:
  int signal_ = 0;
  pid_t parent_ = ::getppid();
};

}  // namespace

Expected<User> user_named(const std::string& name) {
  const passwd* const entry = ::getpwnam(name.c_str());
  if (entry != nullptr) return user_from(*entry);
  return refused("there is no user " + presentable(name) +
                 ": name one of this machine with --user");
}

Expected<User> user_of(uid_t id) {
  const passwd* const entry = ::getpwuid(id);
  if (entry != nullptr) return user_from(*entry);
  return refused("this machine has no user with the number " + std::to_string(id) +
                 ": run this as that user (setpriv --reuid " + std::to_string(id) + ")");
}

std::string name_of(uid_t id) {
  const passwd* const entry = ::getpwuid(id);
  return entry == nullptr ? std::to_string(id) : entry->pw_name;
}

Expected<> become(const User& user) {
  uid_t id = 0, effective = 0, saved = 0;
  ::getresuid(&id, &effective, &saved);
  if (id == user.id && effective == user.id && saved == user.id) return {};
  if (effective != 0)
    return refused("only root can become " + user.name + ": run this as root, or as " + user.name +
                   " (runuser -u " + user.name + " -- ...)");
  if (user.id == 0) return refused("the user " + user.name + " is root: name another one");
  const EndsWithParent ends_with_parent;
  if (!keep_standard_descriptors() || !take_rights_of(user) || !is_for_good(user))
    return refused("this process cannot become " + user.name + ": " + std::strerror(errno) +
                   "; run it as that user (runuser -u " + user.name + " -- ...)");
  // The memory of this process belonged to root. Other processes of the user must not read it, nor
  // use this process to act on root's terminal.
  ::prctl(PR_SET_DUMPABLE, 0);
  ends_with_parent.again();
  // Root's session keyring may contain keys, so this process joins a new keyring. The call fails
  // only on a kernel without keyrings, on which there are no keys.
  ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
  take_environment_of(user);
  ::umask(S_IRWXG | S_IRWXO);
  return {};
}

}  // namespace muster::apps
