#include "node/end_process.hpp"

#include <thread>

#include <unistd.h>

namespace muster::net {

namespace {

/// Ends the process after that time, whatever its other threads wait for. Returns false if no
/// thread can be started for this.
bool exit_after(Duration time, int code) noexcept {
  try {
    std::thread([time, code] {
      std::this_thread::sleep_for(time);
      ::_exit(code);
    }).detach();
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

void end_process(const Failure& fault, Duration within, NodeLog& log,
                 const std::function<void()>& last_words) noexcept {
  const int code = static_cast<int>(fault.code);
  const bool ends = exit_after(within, code);
  try {
    log.fatal(fault.what + " (exit code " + std::to_string(code) + ")");
    if (ends) last_words();
  } catch (...) {  // the process ends without it
  }
  ::_exit(code);
}

}  // namespace muster::net
