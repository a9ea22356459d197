#pragma once

#include "apps/postgres/server/waits.hpp"

#include <muster/values/failure.hpp>

#include <functional>
#include <memory>
#include <string>

/// PostgreSQL's programs as children of this process.

namespace muster::postgres {

/// Does as Process::launch, but forks on a thread that lives as long as this process. The kernel
/// signals a child when the thread that forked the child ends, even if this process goes on.
Expected<apps::Process> launch_from_lasting_thread(const apps::ProcessOptions& options);

/// A program that runs to its end, such as pg_rewind. Destroying this object kills it.
class Tool {
 public:
  /// If the program fails, the outcome is the last line of its standard error that names an error,
  /// or else the last line. This class sets the standard error of `options.standard` itself.
  Tool(const Executor& executor, apps::ProcessOptions options,
       std::function<void(Expected<>)> ended);
  ~Tool();

 private:
  class Running;
  std::shared_ptr<Running> running_;
};

/// The last line of a program's output that names an error, or else the last line.
std::string telling_line(std::string_view text);

}  // namespace muster::postgres
