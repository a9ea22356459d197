#pragma once

#include "apps/cluster/ports.hpp"
#include "apps/muster/config/config.hpp"
#include "command.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <map>

/// Nodes of which each is a process of the command `muster`, and whose application is a program.

namespace muster::apps {

inline void write_file(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << text;
}

/// Writes an executable file.
inline void write_program(const std::filesystem::path& file, const std::string& text) {
  write_file(file, text);
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

/// Returns the first code block of that language in the document.
inline std::string block_of(const std::string& document, const std::string& language) {
  const auto begin = document.find("\n```" + language + "\n");
  BOOST_REQUIRE(begin != std::string::npos);
  const auto first = begin + language.size() + 5;
  return document.substr(first, document.find("```\n", first) - first);
}

/// Waits until `so` returns true. Only the timeout of CTest ends the wait if it never does.
inline void wait_until(const std::function<bool()>& so) {
  while (!so()) ::poll(nullptr, 0, 5);
}

/// Makes this process the parent of orphaned descendants, so that it can wait for them.
inline void adopt_orphans() {
  BOOST_REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
}

/// True when no process of that process group is left. The function also reaps the orphans that
/// `adopt_orphans` has made children of this process.
inline bool gone(pid_t group) {
  while (waitpid(-group, nullptr, WNOHANG) > 0) {
  }
  return ::kill(-group, 0) != 0 && errno == ESRCH;
}

/// A named pipe that programs open and that the kernel closes when they end. So it shows whether
/// any of them runs.
class Held {
 public:
  explicit Held(std::filesystem::path file) : file_(std::move(file)) {
    BOOST_REQUIRE(::mkfifo(file_.c_str(), 0600) == 0);
  }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  /// Waits until a process has opened the pipe.
  void wait_for_holder() { read_ = Descriptor(::open(file_.c_str(), O_RDONLY | O_CLOEXEC)); }
  /// Waits until no process has the pipe open any more.
  void wait_until_free() {
    char byte = 0;
    while (::read(read_.fd(), &byte, 1) > 0) {
    }
  }

 private:
  std::filesystem::path file_;
  Descriptor read_;
};

/// The nodes 1 to `count` of a cluster, with their files in one directory.
struct RealNodes {
  explicit RealNodes(std::uint32_t count) : ports(ReservedPorts::take(count).value()) {
    using namespace std::chrono_literals;
    cluster.name = "programs";
    cluster.hold_down = Duration::zero();  // lives in tests are short
    cluster.timings.T = 2s;
    cluster.timings.stop_deadline = cluster.timings.start_deadline = 8s;
    cluster.timings.coordinator_timeout = cluster.timings.check_every + cluster.timings.T;
    std::uint32_t id = 0;
    for (std::uint16_t port : ports.ports()) cluster.nodes[NodeId{++id}] = {"127.0.0.1", port};
  }
  ~RealNodes() { processes.clear(); }

  [[nodiscard]] std::filesystem::path file(const std::string& name) const {
    return directory.path / name;
  }
  [[nodiscard]] std::filesystem::path log(std::uint32_t id) const {
    return file("n" + std::to_string(id) + ".log");
  }
  [[nodiscard]] std::filesystem::path journal(std::uint32_t id) const {
    return file("n" + std::to_string(id) + ".jsonl");
  }

  /// Writes the configuration of that node and returns the name of the file.
  [[nodiscard]] std::string configure(std::uint32_t id) const {
    NodeConfig config;
    config.self = NodeId{id};
    config.data = file("n" + std::to_string(id));
    config.cluster = cluster;
    if (const auto at = tls.find(id); at != tls.end()) config.tls = at->second;
    config.journal = JournalConfig{journal(id)};
    config.application = application;
    config.hooks = hooks;
    const auto name = file("n" + std::to_string(id) + ".toml");
    write_file(name, write_config(config));
    return name.string();
  }

  /// Starts `muster run --config FILE ...`.
  Process& run(std::uint32_t id, const std::vector<std::string>& more) {
    return launch(id, "run", more);
  }
  /// Starts `muster node --config FILE`.
  Process& node(std::uint32_t id) { return launch(id, "node", {}); }

  Process& launch(std::uint32_t id, const std::string& word, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{word, "--config", configure(id)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto options = muster_with(arguments, log(id));
    options.holds_signals = true;
    auto process = Process::launch(options);
    BOOST_REQUIRE(process.has_value());
    processes.erase(id);
    return processes.emplace(id, std::move(*process)).first->second;
  }

  /// Ends the node if it runs, and starts it again with its present configuration.
  void restart(std::uint32_t id, const std::vector<std::string>& more = {}) {
    if (processes.contains(id)) BOOST_TEST_REQUIRE(leave(id).code == 0);
    std::filesystem::remove(log(id));
    launch(id, "node", more);
    wait_until([&] { return holds(log(id), " is up on "); });
  }

  [[nodiscard]] Ran muster(const std::string& line) const { return directory.muster(line); }
  [[nodiscard]] Ran ask(std::uint32_t id, const std::string& line) const {
    return muster(line + " --dir " + file("n" + std::to_string(id)).string());
  }
  void await_coordinator(std::uint32_t coordinator, const std::vector<std::uint32_t>& of) const {
    for (std::uint32_t id : of) {
      const Ran ran = ask(id, "wait --timeout 5min --coordinator " + std::to_string(coordinator));
      BOOST_TEST_REQUIRE(ran.code == 0, ran.output);
    }
  }
  /// Starts these nodes again and waits until they form a group under the last of them.
  void begin_together(const std::vector<std::uint32_t>& nodes) {
    for (std::uint32_t id : nodes) restart(id);
    await_coordinator(nodes.back(), nodes);
  }
  /// Waits until the node takes no part because it is outvoted, and returns the output of its
  /// `status`.
  Ran await_outvoted(std::uint32_t id) const {
    Ran status;
    wait_until([&] {
      status = ask(id, "status");
      return says(status, " takes no part, because many nodes differ from it");
    });
    return status;
  }

  [[nodiscard]] bool there(const std::string& name) const {
    return std::filesystem::exists(file(name));
  }
  /// Ends the node with SIGTERM. Returns its exit code and its whole output.
  Ran leave(std::uint32_t id) {
    processes.at(id).signal(SIGTERM);
    return end(id);
  }
  void leaves_in_order(std::uint32_t id = 1) { ends_well(leave(id)); }
  /// Waits for the end of the node. Returns its exit code and its whole output.
  Ran end(std::uint32_t id) {
    const int status = processes.at(id).wait();
    processes.erase(id);
    const std::string how = WIFEXITED(status) ? "" : describe_end(status) + "\n";
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_all(log(id)) + how};
  }
  /// Lets all nodes leave in order, and checks with `verify` the journals of all nodes that were
  /// ever started.
  void judge() {
    std::string words = "verify";
    while (!processes.empty()) BOOST_TEST(leave(processes.begin()->first).code == 0);
    for (std::uint32_t id = 1; id <= ports.ports().size(); ++id)
      if (std::filesystem::exists(log(id))) words += " " + journal(id).string();
    ends_well(muster(words));
  }

  TestDirectory directory;
  ReservedPorts ports;
  ClusterConfig cluster;
  std::map<std::uint32_t, net::TlsOptions> tls;
  ApplicationConfig application;
  std::optional<HooksConfig> hooks;
  std::map<std::uint32_t, Process> processes;
};

}  // namespace muster::apps
