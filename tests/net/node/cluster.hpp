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

/// Real nodes in this process, over loopback, that fail and come back as a test says.

namespace muster::test {

/// A context of the user's and the threads that run it.
class Running {
 public:
  explicit Running(int threads = 1);
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  /// Runs what is left and ends.
  ~Running();
  /// Ends now; what is left does not run any more, or when it goes on.
  void halt();
  void go_on();
  /// Runs what is left and ends.
  void halt_when_idle();
  [[nodiscard]] std::set<std::thread::id> threads() const;

  boost::asio::io_context context;

 private:
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::vector<std::thread> threads_;
};

NodeSet nodes(std::initializer_list<std::uint32_t> ids);

/// The timings of tests on real nodes: T is long, for sanitizers and busy machines, and so is every
/// deadline that a test does not mean to overrun.
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
  /// What its nodes run; none: what the stage says.
  MakeApplication application{};
  /// What else a node is made with.
  std::function<void(NodeId, net::NodeOptions&)> alter{};
  /// Puts something between a node and its storage.
  std::function<std::unique_ptr<SafeStorage>(NodeId, std::unique_ptr<SafeStorage>)> between{};
};

/// Nodes 1 to n. Use it on one thread.
class Cluster {
 public:
  explicit Cluster(ClusterOptions options = {});
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  /// Makes all that still live fail.
  ~Cluster();

  /// Begins a life of a node in a new "process", and says how that went.
  Expected<> try_start(std::uint32_t id);
  void start(std::uint32_t id);
  void start_all();
  /// It begins, and forms a group with all that are up.
  GroupNumber join(std::uint32_t id);
  GroupNumber join_all();
  /// It fails, and those that are left form a group.
  GroupNumber lose(std::uint32_t id);
  /// Begins a life in a process of its own, with a store on disk; `words` say what its application
  /// does (node_process.cpp).
  std::unique_ptr<Process> spawn(std::uint32_t id, const std::vector<std::string>& words);
  /// Leaves in order and ends the "process".
  void leave(std::uint32_t id);
  void leave_all();
  /// The node fails: without a word, but that the system closes its sockets.
  void kill(std::uint32_t id);
  /// Its safe storage is lost.
  void wipe(std::uint32_t id);

  [[nodiscard]] net::Node& node(std::uint32_t id);
  [[nodiscard]] Running& running(std::uint32_t id);
  [[nodiscard]] Running& hooks(std::uint32_t id);
  [[nodiscard]] storage::MemoryCells& cells(std::uint32_t id);
  [[nodiscard]] net::NodeOptions options_of(std::uint32_t id) const;
  /// Where it listens, at 127.0.0.1.
  [[nodiscard]] std::uint16_t port(std::uint32_t id) const { return ports_[id - 1]; }
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_.path(); }
  /// Another directory, whose journals nobody reads.
  std::string make_directory(const std::string& name);

  /// Waits for it; fails the test with `what` when it does not come.
  template <class Predicate>
  void await(const std::string& what, Predicate predicate) {
    if (!bell.wait_until(std::move(predicate))) never_came(what);
  }
  /// Waits until exactly these are members of one group under the highest, all Normal, and gives
  /// its number.
  GroupNumber await_group(const std::set<std::uint32_t>& members);
  /// The same, whoever coordinates them, where nobody is named.
  GroupNumber await_together(const NodeSet& members, std::optional<NodeId> coordinator = {});
  /// Waits until the last step of this node has left it so.
  void await_view(std::uint32_t id, const std::string& what,
                  const std::function<bool(const View&)>& is);
  void await_halted(std::uint32_t id, std::uint32_t by);
  /// Waits for a journal line of this node that `is` is true for, after the first `from`, and gives
  /// its place.
  std::size_t await_line(std::uint32_t id, const std::string& what, std::size_t from,
                         const std::function<bool(const journal::Line&)>& is);

  /// Ends all, and checks the journals: replay, assertions and hook grammar.
  void judge(const std::set<std::string>& spared = {});

  Bell bell;
  Stage stage{bell};

 private:
  /// What a process would hold.
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

/// A test that has so many nodes.
template <std::uint32_t count>
struct Nodes : Cluster {
  Nodes() : Cluster({.nodes = count}) {}
};

/// The same, judged when the test has come to its end.
template <std::uint32_t count>
struct Judged : Nodes<count> {
  void teardown() { this->judge(); }
};

// --- Lines

/// True for a line of such a kind.
template <class Kind>
bool is_line(const journal::Line& line) {
  return std::holds_alternative<Kind>(line);
}

/// How the life of a node ended, by the last of its lines.
journal::Ended ended_in(const std::vector<journal::Line>& lines);

/// True for a step that was made of such an event.
template <class Kind>
bool is_step(const journal::Line& line) {
  const auto* step = std::get_if<journal::Step>(&line);
  return step && std::holds_alternative<Kind>(step->event);
}

/// The events of such a kind in these lines.
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
