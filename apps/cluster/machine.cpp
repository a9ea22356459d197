#include "apps/cluster/machine.hpp"

#include "apps/base/text.hpp"

#include <ctime>

namespace muster::apps {
namespace {

constexpr std::int64_t period_ns = 2'000'000;

}  // namespace

MachineGap::MachineGap()
    : thread_([this] {
        std::int64_t due = monotonic_ns();
        while (!ending_) {
          due += period_ns;
          const timespec time{due / 1'000'000'000, due % 1'000'000'000};
          clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
          const std::int64_t late = monotonic_ns() - due;
          if (late > longest_) longest_ = late;
          if (late > period_ns) due += late;
        }
      }) {}

MachineGap::~MachineGap() {
  ending_ = true;
  thread_.join();
}

}  // namespace muster::apps
