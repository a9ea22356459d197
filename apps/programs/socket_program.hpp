#pragma once

#include "apps/muster/config/config.hpp"
#include "apps/programs/program_socket.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <stop_token>
#include <thread>

namespace muster::apps {

/// The application of `kind = "socket"`: the socket, and the program, where the node starts it.
class SocketProgram {
 public:
  /// `give_up` is called, from any thread, when the program is lost: let the node leave. `warn`
  /// takes a sentence for the log, from any thread.
  SocketProgram(const NodeConfig& config, std::function<void()> give_up,
                std::function<void(const std::string&)> warn);
  SocketProgram(const SocketProgram&) = delete;
  SocketProgram& operator=(const SocketProgram&) = delete;
  /// Ends the program it started: SIGTERM, and SIGKILL after half of stop_deadline.
  ~SocketProgram();

  Expected<> listen() { return socket_.listen(); }

  /// Starts the program, where there is one to start, and calls `registered` when one is there.
  void await(std::function<void()> registered);

  [[nodiscard]] MakeApplication application() const { return socket_.application(); }

  /// Why the program was lost.
  [[nodiscard]] std::optional<std::string> lost() const { return socket_.lost(); }

 private:
  void work();
  void end_soon();

  const NodeConfig config_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer patience_;
  ProgramSocket socket_;
  std::atomic<bool> leaving_ = false;
  std::stop_source ending_;  ///< of the program
  std::thread program_;      ///< launches it and waits for its end
  std::thread thread_;       ///< of the socket
};

}  // namespace muster::apps
