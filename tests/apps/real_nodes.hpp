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

/// Nodes whose application is a program, each a process of the command.

namespace muster::apps {

inline void write_file(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << text;
}

/// A file that may be executed.
inline void write_program(const std::filesystem::path& file, const std::string& text) {
  write_file(file, text);
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

/// The first block of that language in the document.
inline std::string block_of(const std::string& document, const std::string& language) {
  const auto begin = document.find("\n```" + language + "\n");
  BOOST_REQUIRE(begin != std::string::npos);
  const auto first = begin + language.size() + 5;
  return document.substr(first, document.find("```\n", first) - first);
}

/// Waits until it is so; CTest bounds it.
inline void wait_until(const std::function<bool()>& so) {
  while (!so()) ::poll(nullptr, 0, 5);
}

/// Orphans of this process's children become its own, so that it can wait for them.
inline void adopt_orphans() {
  BOOST_REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
}

/// True when no process of that group is left; of orphans that were adopted.
inline bool gone(pid_t group) {
  while (waitpid(-group, nullptr, WNOHANG) > 0) {
  }
  return ::kill(-group, 0) != 0 && errno == ESRCH;
}

/// A named pipe that programs hold open to show that they are there.
class Held {
 public:
  explicit Held(std::filesystem::path file) : file_(std::move(file)) {
    BOOST_REQUIRE(::mkfifo(file_.c_str(), 0600) == 0);
  }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  /// Waits until somebody holds it.
  void wait_for_holder() { read_ = Descriptor(::open(file_.c_str(), O_RDONLY | O_CLOEXEC)); }
  /// Waits until nobody holds it any more.
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
    cluster.hold_down = Duration::zero();  // lives of tests are short
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

  /// Writes the configuration of that node and gives its name.
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

  /// It ends, if it runs, and begins anew with the configuration of now.
  void begin_anew(std::uint32_t id, const std::vector<std::string>& more = {}) {
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
  /// They begin, and form a group under the last of them.
  void begin_together(const std::vector<std::uint32_t>& nodes) {
    for (std::uint32_t id : nodes) begin_anew(id);
    await_coordinator(nodes.back(), nodes);
  }
  /// What its status says then.
  Ran await_outvoted(std::uint32_t id) const {
    Ran status;
    wait_until([&] {
      status = ask(id, "status");
      return says(status, " takes no part, as many others differ");
    });
    return status;
  }

  [[nodiscard]] bool there(const std::string& name) const {
    return std::filesystem::exists(file(name));
  }
  /// Ends it with SIGTERM; how it ended and all that it said.
  Ran leave(std::uint32_t id) {
    processes.at(id).signal(SIGTERM);
    return end(id);
  }
  void leaves_in_order(std::uint32_t id = 1) { ends_well(leave(id)); }
  /// Waits for its end.
  Ran end(std::uint32_t id) {
    const int status = processes.at(id).wait();
    processes.erase(id);
    const std::string how = WIFEXITED(status) ? "" : describe_end(status) + "\n";
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_all(log(id)) + how};
  }
  /// All leave in order, and the journals of those that were ever started hold.
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
