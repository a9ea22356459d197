#include <muster/net/say.hpp>
#include <muster/net/value_or_exit.hpp>

#include <cstdio>
#include <string>

#include <unistd.h>

namespace muster::net {

void exit_with(const Failure& failure) {
  const int code = static_cast<int>(failure.code);
  say(STDERR_FILENO, "muster: " + failure.what + " (exit code " + std::to_string(code) + ")\n");
  std::fflush(nullptr);
  ::_exit(code);
}

}  // namespace muster::net
