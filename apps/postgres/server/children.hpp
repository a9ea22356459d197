#pragma once

#include "apps/postgres/server/waits.hpp"

#include <muster/values/failure.hpp>

#include <functional>
#include <memory>
#include <string>

/// PostgreSQL's programs as children of this process.

namespace muster::postgres {

/// As Process::launch, from a thread that lasts as long as this process: the kernel takes the end
/// of the thread that made a child for its parent's end.
Expected<apps::Process> launch_from_lasting_thread(const apps::ProcessOptions& options);

/// A program that runs to its end, such as pg_rewind. Dropped, it is killed.
class Tool {
 public:
  /// The outcome says why by the line of its standard error that names an error, or by its last.
  /// Of `options.standard` its errors alone are chosen here.
  Tool(const Executor& executor, apps::ProcessOptions options,
       std::function<void(Expected<>)> ended);
  ~Tool();

 private:
  class Running;
  std::shared_ptr<Running> running_;
};

/// Of what a program of PostgreSQL said, the last line that names an error, or else the last.
std::string telling_line(std::string_view text);

}  // namespace muster::postgres
