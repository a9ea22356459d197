#include "apps/bench/machine_use.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>
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

// Fields are counted after the name, which stands in parentheses and may hold anything.
Duration cpu_time(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  std::int64_t user = 0, system = 0;
  fields >> user >> system;
  return std::chrono::nanoseconds((user + system) * (1'000'000'000 / ::sysconf(_SC_CLK_TCK)));
}

std::uint64_t resident_bytes(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  std::uint64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace muster::apps
