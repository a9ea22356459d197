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

/// The application of `kind = "socket"`: its socket, and its program if the node is to start one.
class SocketProgram {
 public:
  /// Calls `give_up` when the program is lost; `give_up` has to let the node leave. `warn` logs a
  /// sentence. Both are called from any thread.
  SocketProgram(const NodeConfig& config, std::function<void()> give_up,
                std::function<void(const std::string&)> warn);
  SocketProgram(const SocketProgram&) = delete;
  SocketProgram& operator=(const SocketProgram&) = delete;
  /// Ends the program that this object started: by SIGTERM, and by SIGKILL after half of
  /// stop_deadline.
  ~SocketProgram();

  Expected<> listen() { return socket_.listen(); }

  /// Starts the program, if the node is to start one. Calls `registered` when a program has
  /// registered.
  void await(std::function<void()> registered);

  [[nodiscard]] MakeApplication application() const { return socket_.application(); }

  /// The reason why the program was lost, if it was.
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
