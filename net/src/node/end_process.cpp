#include "node/end_process.hpp"

#include <thread>

#include <unistd.h>

namespace muster::net {

namespace {

/// Ends the process when that time is over, whatever its other threads wait for. False where there
/// is no thread to be had for it.
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
  } catch (...) {  // it ends without a word
  }
  ::_exit(code);
}

}  // namespace muster::net
