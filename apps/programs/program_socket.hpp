#pragma once

#include <muster/application.hpp>
#include <muster/values/failure.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace muster::apps {

/// The Unix socket at which one program at a time is the application of a node
/// (docs/reference/socket.md).
///
/// A program that leaves while it is at work is *lost*. It may still be working, and the node
/// cannot check this. So the next `stop` fails, and the node ends. If the program leaves while no
/// task is started, it is not lost, and another program can connect. The node's requests wait for
/// that program, within the deadlines of the hooks.
class ProgramSocket {
 public:
  struct Options {
    NodeId self;
    NodeSet nodes;
    std::string path;  ///< usually DIR/application.sock
    /// Called on the executor when the program is lost. The function has to let the node leave.
    std::function<void()> give_up;
    /// Called when the connection has ended. Set this function if the owner calls `lose` as soon as
    /// it knows how the program ended. If it is not set, the program counts as lost at once.
    std::function<void()> gone{};
    /// Logs a sentence. Called on the executor.
    std::function<void(const std::string& sentence)> warn{};
  };

  /// Everything runs on `executor`, one thing at a time: it is a strand, or a context with one
  /// thread.
  ProgramSocket(boost::asio::any_io_executor executor, Options options);
  ProgramSocket(const ProgramSocket&) = delete;
  ProgramSocket& operator=(const ProgramSocket&) = delete;
  /// Call this when the executor no longer runs, or on the executor.
  ~ProgramSocket();

  /// Makes the socket, with mode 0600.
  Expected<> listen();

  /// Calls `registered` on the executor when a program has registered for the first time.
  void await(std::function<void()> registered);

  /// Reports that the program has ended, and why. From any thread.
  void lose(const std::string& why);

  /// The reason why the program was lost, if it was. From any thread.
  [[nodiscard]] std::optional<std::string> lost() const;

  /// The application of each life: it hands its hooks to the program.
  [[nodiscard]] MakeApplication application() const;

 private:
  class Impl;
  class Handed;
  std::shared_ptr<Impl> impl_;
};

}  // namespace muster::apps
