#include "apps/base/failed.hpp"
#include "apps/base/text.hpp"
#include "apps/cluster/cluster.hpp"
#include "apps/demo/directory.hpp"
#include "bench/nodes/bench.hpp"
#include "bench/nodes/floor.hpp"
#include "bench/nodes/machine_use.hpp"
#include "bench/nodes/namespaces.hpp"
#include "bench/nodes/phases.hpp"

#include <muster/net/admin.hpp>
#include <muster/net/status.hpp>
#include <muster/values/json.hpp>

#include <boost/json/parse.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <iostream>
#include <string>
#include <thread>

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

constexpr Duration failover_patience = 20s;
constexpr Duration undisturbed = 20ms;   // earlier, reading journals would slow the nodes down
constexpr Duration calm_before = 300ms;  // in this time every node restarts its Check timer

double ms(Duration duration) {
  return static_cast<double>(duration.count()) / 1e6;
}

/// One setting of the bench: a fault, an application, and whether nodes have certificates.
struct FailoverRow {
  const char* fault;
  const char* application;
  bool certified = false;
  [[nodiscard]] const char* setting() const { return certified ? "tls" : "default"; }
};

/// One repetition.
struct Rep {
  Failover failover;
  double busy_percent{};
};

/// Collects lines until the vector is emptied.
struct Lines final : Cluster::Listener {
  void line(const journal::Line& line) override { lines.push_back(line); }
  std::vector<journal::Line> lines;
};

class FailoverBench {
 public:
  FailoverBench(const FailoverOptions& options, FailoverRow row, Cluster& cluster, Hosts* hosts)
      : options_(options), row_(row), cluster_(cluster), hosts_(hosts) {
    cluster_.listen(&lines_);
  }
  ~FailoverBench() { cluster_.listen(nullptr); }
  FailoverBench(const FailoverBench&) = delete;
  FailoverBench& operator=(const FailoverBench&) = delete;

  Expected<> run() {
    for (NodeId node : cluster_.nodes())
      if (const Expected<> started = cluster_.start(node); !started) return started.error();
    for (std::size_t rep = 1; rep <= options_.reps; ++rep) {
      const Expected<Rep> done = once();
      if (!done) return done.error();
      reps_.push_back(*done);
      if (options_.json) print_rep(rep, *done);
    }
    if (!normal_again()) return late("the group of all nodes after the last fault");
    measure_idle();
    if (options_.json)
      print_idle();
    else
      print_table();
    cluster_.terminate_all();
    return {};
  }

 private:
  Failure late(const std::string& what) const {
    return {ExitCode::timed_out, std::string("bench failover: did not see within 20 s: ") + what +
                                     "; see the journals in " +
                                     cluster_.options().directory.string()};
  }

  bool normal_again() {
    return cluster_.until([this] { return cluster_.normal(); }, failover_patience);
  }

  Expected<Rep> once() {
    if (!normal_again()) return late("the group of all nodes");
    const MachineTicks before = MachineTicks::read();
    cluster_.run(calm_before);
    const double busy = busy_percent(before, MachineTicks::read());
    if (!normal_again()) return late("a group that stays as it is");
    cluster_.catch_up();
    lines_.lines.clear();
    const NodeId coordinator = *cluster_.watch().coordinator();
    NodeSet survivors = cluster_.nodes();
    survivors.erase(coordinator);
    const Duration fault = Duration(monotonic_ns());
    if (const Expected<> failed = fail(coordinator); !failed) return failed.error();
    std::this_thread::sleep_for(undisturbed);
    const bool over =
        cluster_.until([&] { return cluster_.watch().normal(survivors, {}); }, failover_patience);
    cluster_.catch_up();
    const auto failover = failover_of(lines_.lines, fault, survivors);
    if (!over || !failover) return late("the survivors in a new group");
    if (const Expected<> resynced = repair(coordinator); !resynced) return resynced.error();
    return Rep{*failover, busy};
  }

  Expected<> fail(NodeId coordinator) {
    if (!hosts_) {
      cluster_.kill(coordinator);
      return {};
    }
    cluster_.note(journal::FaultKind::cut, coordinator);
    return hosts_->cut(coordinator);
  }

  Expected<> repair(NodeId coordinator) {
    if (!hosts_) return cluster_.start(coordinator);
    cluster_.note(journal::FaultKind::healed, coordinator);
    return hosts_->heal(coordinator);
  }

  // --- Idle nodes

  struct Idle {
    double cpu_percent{}, wake_ups_per_second{}, resident_mb{}, letters_per_second{},
        bytes_per_second{};
  };

  std::optional<net::NodeStatus> status(NodeId node) const {
    const auto line = net::ask_admin((cluster_.data(node) / "admin.sock").string(), 1s);
    if (!line) return std::nullopt;
    boost::system::error_code error;
    const auto read = read_json<net::NodeStatus>(boost::json::parse(*line, error));
    return read ? std::optional(*read) : std::nullopt;
  }

  void measure_idle() {
    constexpr Duration time = 5s;
    std::map<NodeId, std::pair<ProcessUse, std::optional<net::NodeStatus>>> before;
    for (NodeId node : cluster_.nodes())
      before[node] = {ProcessUse::read(cluster_.pid(node)), status(node)};
    cluster_.run(time);
    const double seconds = ms(time) / 1000;
    for (NodeId node : cluster_.nodes()) {
      const auto after = status(node);
      const auto& [used, status] = before[node];
      const ProcessUse uses = ProcessUse::read(cluster_.pid(node));
      if (!after || !status) continue;
      const net::Counters& from = status->counters;
      const net::Counters& to = after->counters;
      idle_[node] = {100 * ms(uses.cpu - used.cpu) / ms(time),
                     static_cast<double>(uses.wake_ups - used.wake_ups) / seconds,
                     static_cast<double>(resident_bytes(cluster_.pid(node))) / 1e6,
                     static_cast<double>(to.letters_out - from.letters_out) / seconds,
                     static_cast<double>(to.bytes_out - from.bytes_out) / seconds};
    }
  }

  // --- Output

  std::string head() const {
    return R"({"system":"muster","setting":")" + std::string(row_.setting()) + R"(","n":)" +
           std::to_string(options_.nodes) + R"(,"fault":")" + row_.fault + R"(","application":")" +
           row_.application + '"';
  }

  void print_rep(std::size_t number, const Rep& rep) const {
    std::cout << head() << R"(,"rep":)" << number << R"(,"failover_ms":)" << ms(rep.failover.whole)
              << R"(,"letters":)" << rep.failover.letters << R"(,"busy_percent":)"
              << rep.busy_percent << R"(,"phases_ms":{)";
    for (std::size_t i = 0; i < phase_count; ++i)
      std::cout << (i ? "," : "") << '"' << phase_name(i) << "\":" << ms(rep.failover.phases[i]);
    std::cout << "}}" << std::endl;
  }

  void print_idle() const {
    for (const auto& [node, idle] : idle_)
      std::cout << head() << R"(,"kind":"idle","node":)" << node.value << R"(,"cpu_percent":)"
                << idle.cpu_percent << R"(,"wake_ups_per_second":)" << idle.wake_ups_per_second
                << R"(,"resident_mb":)" << idle.resident_mb << R"(,"letters_per_second":)"
                << idle.letters_per_second << R"(,"bytes_per_second":)" << idle.bytes_per_second
                << "}" << std::endl;
  }

  static std::string phase_name(std::size_t index) {
    return boost::describe::enum_to_string(static_cast<Phase>(index), "");
  }

  template <class Of>
  double middle(double part, Of of) const {
    std::vector<double> values;
    for (const Rep& rep : reps_) values.push_back(of(rep));
    return quantile(std::move(values), part);
  }

  void print_table() const {
    const auto whole = [](const Rep& rep) { return ms(rep.failover.whole); };
    std::cout.setf(std::ios::fixed);
    std::cout.precision(2);
    std::cout << "\nfail-over, " << options_.nodes << " nodes, fault " << row_.fault
              << ", application " << row_.application << (row_.certified ? ", TLS, " : ", ")
              << reps_.size() << " times\n"
              << "  whole           median " << middle(0.5, whole) << " ms   p95 "
              << middle(0.95, whole) << "   least " << middle(0, whole) << "   most "
              << middle(1, whole) << "\n";
    for (std::size_t i = 0; i < phase_count; ++i) {
      std::string name = phase_name(i);
      name.resize(16, ' ');
      std::cout << "  " << name << "median "
                << middle(0.5, [i](const Rep& rep) { return ms(rep.failover.phases[i]); })
                << " ms\n";
    }
    std::cout << "  letters         median "
              << middle(0.5, [](const Rep& r) { return static_cast<double>(r.failover.letters); })
              << "   machine busy before: median "
              << middle(0.5, [](const Rep& rep) { return rep.busy_percent; }) << " %\n";
    for (const auto& [node, idle] : idle_)
      std::cout << "  idle node " << node.value << "     " << idle.cpu_percent
                << " % of a processor, " << idle.wake_ups_per_second << " wake-ups/s, "
                << idle.resident_mb << " MB resident, " << idle.letters_per_second << " letters/s, "
                << idle.bytes_per_second << " bytes/s\n";
    std::cout << std::flush;
  }

  const FailoverOptions& options_;
  const FailoverRow row_;
  Cluster& cluster_;
  Hosts* hosts_;
  Lines lines_;
  std::vector<Rep> reps_;
  std::map<NodeId, Idle> idle_;
};

ClusterOptions bench_cluster(const std::filesystem::path& directory, const char* application) {
  ClusterOptions cluster;
  cluster.directory = directory;
  cluster.program = program_beside("muster");
  cluster.cluster.name = "bench";
  cluster.cluster.hold_down = Duration::zero();  // lives are short here
  // With calm, a coordinator that the bench often cuts off would leave its group.
  cluster.cluster.calm = Duration::zero();
  cluster.application = {application, 100};
  return cluster;
}

Expected<> run_row(const FailoverOptions& options, FailoverRow row, Hosts* hosts) {
  const auto directory = RunDirectory::make("", static_cast<unsigned>(options.nodes));
  if (!directory) return directory.error();
  ClusterOptions cluster = bench_cluster(directory->path(), row.application);
  cluster.certified = row.certified;
  std::optional<ReservedPorts> ports;
  if (hosts) {
    cluster.cluster.insecure = !row.certified;
    cluster.cluster.nodes = hosts->addresses();
    cluster.networks = hosts->networks();
  } else {
    Expected<ReservedPorts> taken = ReservedPorts::take(options.nodes);
    if (!taken) return taken.error();
    ports = std::move(*taken);
    cluster.cluster.nodes = addresses_on(ports->ports());
  }
  auto made = Cluster::make(std::move(cluster));
  Expected<> done = made ? FailoverBench(options, row, **made, hosts).run() : made.error();
  if (done) directory->remove();
  return done;
}

Expected<> run_rows(const FailoverOptions& options, const char* fault, Hosts* hosts) {
  for (const char* application : {"none", "shards"}) {
    const bool wanted = application[0] == 'n' ? options.none : options.shards;
    for (const bool certified : {false, true}) {
      if (!wanted || (certified && !options.tls)) continue;
      const Expected<> done = run_row(options, {fault, application, certified}, hosts);
      if (!done) return done;
    }
  }
  return {};
}

Expected<> run_silent(const FailoverOptions& options) {
  if (const Expected<> entered = enter_own_namespaces(); !entered) return entered;
  auto hosts = Hosts::make(options.nodes);
  if (!hosts) return hosts.error();
  return run_rows(options, "silent", hosts->get());
}

/// The function does its work in a child process, since a process cannot leave the network
/// namespace to which it has moved.
int silent_in_child(const FailoverOptions& options) {
  std::cout << std::flush;
  const pid_t child = ::fork();
  if (child == 0) {
    const Expected<> done = run_silent(options);
    const int code = done ? 0 : failed(done.error());
    std::cout << std::flush;
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(ExitCode::impossible_state);
}

Expected<Floor> floor_of_a_node() {
  const auto directory = RunDirectory::make("", 1);
  if (!directory) return directory.error();
  Expected<ReservedPorts> port = ReservedPorts::take(1);
  if (!port) return port.error();
  ClusterOptions alone = bench_cluster(directory->path(), "none");
  alone.cluster.nodes = addresses_on(port->ports());
  auto cluster = Cluster::make(std::move(alone));
  if (!cluster) return cluster.error();
  Expected<Floor> floor = measure_floor(**cluster);
  if (floor) directory->remove();
  return floor;
}

void print_floor(const Floor& floor, const FailoverOptions& options) {
  const Duration whole = floor.failover(options.nodes - 1);
  if (options.json) {
    std::cout << R"({"system":"floor","n":)" << options.nodes << R"(,"failover_ms":)" << ms(whole)
              << R"(,"end_of_file_ms":)" << ms(floor.end_of_file) << R"(,"refused_ms":)"
              << ms(floor.refused) << R"(,"round_trip_ms":)" << ms(floor.round_trip)
              << R"(,"commit_ms":)" << ms(floor.commit) << "}" << std::endl;
    return;
  }
  std::cout << "least possible fail-over of this machine after a crash: " << format_ms(whole)
            << " ms = end of file " << ms(floor.end_of_file) << " + refused " << ms(floor.refused)
            << " + " << options.nodes << " round trips of " << ms(floor.round_trip)
            << " + 2 commits of " << ms(floor.commit) << " ms" << std::endl;
}

}  // namespace

int bench_failover(const FailoverOptions& options) {
  const Expected<Floor> floor = floor_of_a_node();
  if (!floor) return failed(floor.error());
  print_floor(*floor, options);
  if (options.silent)
    if (const int code = silent_in_child(options); code != 0) return code;
  if (!options.crash) return 0;
  const Expected<> done = run_rows(options, "crash", nullptr);
  return done ? 0 : failed(done.error());
}

}  // namespace muster::apps
