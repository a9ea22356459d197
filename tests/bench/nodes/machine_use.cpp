#include "bench/nodes/machine_use.hpp"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

namespace muster::apps {

MachineTicks MachineTicks::read() {
  std::ifstream stat("/proc/stat");
  std::string cpu;
  std::uint64_t user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0;
  stat >> cpu >> user >> nice >> system >> idle >> wait >> irq >> soft >> steal;
  const std::uint64_t busy = user + nice + system + irq + soft + steal;
  return {busy, busy + idle + wait};
}

double busy_percent(const MachineTicks& from, const MachineTicks& to) {
  const std::uint64_t all = to.all - from.all;
  return all == 0 ? 0 : 100.0 * static_cast<double>(to.busy - from.busy) / static_cast<double>(all);
}

ProcessUse ProcessUse::read(pid_t process) {
  ProcessUse all;
  std::error_code ignored;  // if the process has ended, there are no threads
  for (const auto& thread :
       std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", ignored)) {
    std::ifstream file(thread.path() / "schedstat");
    std::int64_t ran = 0, waited = 0;
    std::uint64_t times = 0;
    file >> ran >> waited >> times;
    all.cpu += std::chrono::nanoseconds(ran);
    all.wake_ups += times;
  }
  return all;
}

std::uint64_t resident_bytes(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  std::uint64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace muster::apps
