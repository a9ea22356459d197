#include "apps/base/interrupt.hpp"

#include <signal.h>

#include <initializer_list>

namespace muster::apps {
namespace {

volatile sig_atomic_t caught = 0;

}  // namespace

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = [](int number) { caught = number; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
}

int caught_signal() {
  return caught;
}

}  // namespace muster::apps
