#pragma once

#include <muster/application.hpp>
#include <muster/values/failure.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace muster::apps {

/// The Unix socket by which one program at a time is the application of a node (docs/socket.md).
///
/// A program that is at work and goes away is *lost*: nobody can know that it has ceased, so the
/// next `stop` fails, and the node with it. Where nothing was started another may come, and what it
/// is asked to do waits for it, within the deadlines of the hooks.
class ProgramSocket {
 public:
  struct Options {
    NodeId self;
    NodeSet nodes;
    std::string path;  ///< usually DIR/application.sock
    /// The program is lost: let the node leave. Called on the executor.
    std::function<void()> give_up;
    /// The connection has ended: `lose` will be called when it is known how the program did. Empty:
    /// it never will be known.
    std::function<void()> gone{};
    /// Takes a sentence for the node's log. Called on the executor.
    std::function<void(const std::string& sentence)> warn{};
  };

  /// Everything happens on `executor`, one thing at a time: a strand, or a context of one thread.
  ProgramSocket(boost::asio::any_io_executor executor, Options options);
  ProgramSocket(const ProgramSocket&) = delete;
  ProgramSocket& operator=(const ProgramSocket&) = delete;
  /// To be called when the executor no longer runs, or from there.
  ~ProgramSocket();

  /// Makes the socket, for its owner alone (0600).
  Expected<> listen();

  /// Calls `registered`, on the executor, when a program has registered for the first time.
  void await(std::function<void()> registered);

  /// The program has ended, for this reason. From any thread.
  void lose(const std::string& why);

  /// Why the program was lost. From any thread.
  [[nodiscard]] std::optional<std::string> lost() const;

  /// The application of each life: it hands its hooks to the program.
  [[nodiscard]] MakeApplication application() const;

 private:
  class Impl;
  class Handed;
  std::shared_ptr<Impl> impl_;
};

}  // namespace muster::apps
