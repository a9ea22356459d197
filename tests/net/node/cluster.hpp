#pragma once

#include "bell.hpp"
#include "journals.hpp"
#include "ports.hpp"
#include "process.hpp"
#include "stage.hpp"
#include "storage/temporary_directory.hpp"
#include "words.hpp"

#include <muster/net/node.hpp>
#include <muster/storage/memory_storage.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

/// Real nodes in this process, over loopback, which fail and come back as a test says.

namespace muster::test {

/// A user's io_context, and the threads that run it.
class Running {
 public:
  explicit Running(int threads = 1);
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  /// Runs all remaining work and ends.
  ~Running();
  /// Stops the context now. The remaining work runs only after `go_on`, or never.
  void halt();
  void go_on();
  /// Runs all remaining work and ends.
  void halt_when_idle();
  [[nodiscard]] std::set<std::thread::id> threads() const;

  boost::asio::io_context context;

 private:
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::vector<std::thread> threads_;
};

NodeSet nodes(std::initializer_list<std::uint32_t> ids);

/// Timings for tests on real nodes. Sanitizers and busy machines are slow. So T is long, and so is
/// every deadline that a test does not overrun on purpose.
Timings patient(Duration T = std::chrono::seconds(2),
                Duration check_every = std::chrono::milliseconds(500));

struct ClusterOptions {
  std::uint32_t nodes = 3;
  Timings timings = patient();
  Repairs repairs{};
  bool sqlite = false;
  std::uint64_t journal_limit = 64'000'000;
  int context_threads = 1;
  int hook_threads = 1;
  /// Makes the nodes' applications. If it is empty, `stage` makes them.
  MakeApplication application{};
  /// Changes further options of a node.
  std::function<void(NodeId, net::NodeOptions&)> alter{};
  /// Wraps the storage of a node, and returns the storage that the node then uses.
  std::function<std::unique_ptr<SafeStorage>(NodeId, std::unique_ptr<SafeStorage>)> between{};
};

/// The nodes 1 to n. Use it on one thread.
class Cluster {
 public:
  explicit Cluster(ClusterOptions options = {});
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  /// Makes all running nodes fail.
  ~Cluster();

  /// Begins a life of a node in a new "process" (a context and threads of its own). Returns an
  /// error if the node cannot start.
  Expected<> try_start(std::uint32_t id);
  void start(std::uint32_t id);
  void start_all();
  /// Starts the node, and waits until it forms a group with all nodes that are up.
  GroupNumber join(std::uint32_t id);
  GroupNumber join_all();
  /// Makes the node fail, and waits until the other nodes form a group.
  GroupNumber lose(std::uint32_t id);
  /// Begins a life in a process of its own with a store on disk. `words` are the instructions to
  /// its application (node_process.cpp).
  std::unique_ptr<Process> spawn(std::uint32_t id, const std::vector<std::string>& words);
  /// The node leaves in order and ends its "process".
  void leave(std::uint32_t id);
  void leave_all();
  /// Makes the node fail without any last action, except that its sockets are closed, as the system
  /// would close them.
  void kill(std::uint32_t id);
  /// Deletes the node's safe storage.
  void wipe(std::uint32_t id);

  [[nodiscard]] net::Node& node(std::uint32_t id);
  [[nodiscard]] Running& running(std::uint32_t id);
  [[nodiscard]] Running& hooks(std::uint32_t id);
  [[nodiscard]] storage::MemoryCells& cells(std::uint32_t id);
  [[nodiscard]] net::NodeOptions options_of(std::uint32_t id) const;
  /// The port of 127.0.0.1 at which the node listens.
  [[nodiscard]] std::uint16_t port(std::uint32_t id) const { return ports_[id - 1]; }
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }
  /// Makes another directory. `judge` reads no journals from it.
  std::string make_directory(const std::string& name);

  /// Waits until `predicate` holds. Fails the test with `what` if it never does.
  template <class Predicate>
  void await(const std::string& what, Predicate predicate) {
    if (!bell.wait_until(std::move(predicate))) never_came(what);
  }
  /// Waits until exactly these nodes are Normal members of one group under the highest of them, and
  /// returns its number.
  GroupNumber await_group(const std::set<std::uint32_t>& members);
  /// Waits until these nodes are one group under `coordinator`, or under any coordinator if none is
  /// given.
  GroupNumber await_together(const NodeSet& members, std::optional<NodeId> coordinator = {});
  /// Waits until `is` holds for the view after the last step of this node.
  void await_view(std::uint32_t id, const std::string& what,
                  const std::function<bool(const View&)>& is);
  void await_halted(std::uint32_t id, std::uint32_t by);
  /// Waits for a journal line for which `is` is true, after the first `from` lines of this node.
  /// Returns the index of that line.
  std::size_t await_line(std::uint32_t id, const std::string& what, std::size_t from,
                         const std::function<bool(const journal::Line&)>& is);

  /// Ends all nodes, and checks the journals: replay, assertions and hook grammar.
  void judge(const std::set<std::string>& spared = {});

  Bell bell;
  Stage stage{bell};

 private:
  /// The objects that each node would have in a process of its own.
  struct Host {
    std::unique_ptr<Running> hooks;
    std::unique_ptr<Running> running;
    std::unique_ptr<net::Node> node;
    ~Host();
  };
  [[noreturn]] void never_came(const std::string& what) const;
  std::unique_ptr<SafeStorage> open(NodeId id);
  GroupNumber await_all();

  const ClusterOptions options_;
  int spawned_ = 0;
  TemporaryDirectory directory_;
  Ports ports_;

 public:
  Journals journals{directory_.path(), bell};

 private:
  std::map<NodeId, std::shared_ptr<storage::MemoryCells>> cells_;
  std::map<NodeId, Host> hosts_;
};

/// A fixture with that many nodes.
template <std::uint32_t count>
struct Nodes : Cluster {
  Nodes() : Cluster({.nodes = count}) {}
};

/// A fixture with that many nodes, which also checks their journals at the end of the test.
template <std::uint32_t count>
struct Judged : Nodes<count> {
  void teardown() { this->judge(); }
};

// --- Lines

/// True for a line of that kind.
template <class Kind>
bool is_line(const journal::Line& line) {
  return std::holds_alternative<Kind>(line);
}

/// How the life of a node ended, by its last line.
journal::Ended ended_in(const std::vector<journal::Line>& lines);

/// True for the line of a step that handled an event of this kind.
template <class Kind>
bool is_step(const journal::Line& line) {
  const auto* step = std::get_if<journal::Step>(&line);
  return step && std::holds_alternative<Kind>(step->event);
}

/// The events of this kind that the steps in these lines handled.
template <class Kind>
std::vector<Kind> events(const std::vector<journal::Line>& lines) {
  std::vector<Kind> found;
  for (const journal::Line& line : lines)
    if (is_step<Kind>(line)) found.push_back(std::get<Kind>(std::get<journal::Step>(line).event));
  return found;
}

/// The letter that the node was given in that step; null for any other line.
const Letter* letter_in(const journal::Line& line);

template <class Kind>
bool is_letter(const journal::Line& line) {
  const Letter* letter = letter_in(line);
  return letter && std::holds_alternative<Kind>(letter->message);
}

template <class Result>
auto is_answer_from(NodeId from) {
  return [from](const journal::Line& line) {
    const Letter* letter = letter_in(line);
    const auto* answer = letter ? std::get_if<Answer>(&letter->message) : nullptr;
    return answer && letter->from == from && std::holds_alternative<Result>(answer->result);
  };
}

}  // namespace muster::test
