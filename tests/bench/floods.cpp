#include "net/attack/floods.hpp"

#include "apps/cluster/cluster.hpp"
#include "apps/cluster/machine.hpp"
#include "apps/demo/directory.hpp"
#include "bench/nodes/phases.hpp"

#include <boost/describe/enum_from_string.hpp>
#include <boost/describe/enum_to_string.hpp>
#include <boost/mp11/algorithm.hpp>

#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <stdexcept>

// ./dev bench floods [REPETITIONS] [FLOOD]: the cost of a flood. First it measures the fail-over of
// three real nodes: the time from kill -9 of the coordinator until the two others work. It measures
// in turn under a flood of the two survivors and, for comparison, under a flood of a process that
// discards all bytes. Then it floods all three nodes without a fault and counts elections. Exit
// code 1 if the fail-over takes more than twice as long under one of these two floods as under the
// other (medians), or if an election begins.

namespace muster::test {
namespace {

using namespace std::chrono_literals;

constexpr Duration patience = 60s;
constexpr Duration before_kill = 500ms;  // in this time the flood fills all buffers
constexpr Duration without_faults = 1s;
// If the machine gives any process no processor for this long (a fifth of T), the bench discards
// the measurement.
constexpr Duration of_machine = 20ms;

struct Measured {
  std::vector<double> ms;
  std::uint64_t elections{}, windows{}, sent{};
  double seconds{};

  [[nodiscard]] double median() const {
    std::vector<double> sorted = ms;
    std::sort(sorted.begin(), sorted.end());
    return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
  }
};

template <class T>
T need(Expected<T> made) {
  if (!made) throw std::runtime_error(made.error().what);
  return *std::move(made);
}

Ports numbered(const apps::ReservedPorts& reserved) {
  Ports ports;
  std::uint32_t id = 0;
  for (const std::uint16_t port : reserved.ports()) ports[NodeId{++id}] = port;
  return ports;
}

class Flooded final : apps::Cluster::Listener {
 public:
  Flooded(const std::filesystem::path& directory, bool certified) {
    apps::ClusterOptions options;
    options.directory = directory;
    options.program = MUSTER_PROGRAM;
    options.cluster.name = "flooded";
    options.cluster.hold_down = Duration::zero();  // lives are short here
    options.cluster.nodes = apps::addresses_on(node_ports_.ports());
    options.application = {"none", 0};
    options.certified = certified;
    cluster_ = need(apps::Cluster::make(std::move(options)));
    cluster_->listen(this);
    for (NodeId node : cluster_->nodes()) start(node);
  }

  void measure(Flood how, bool at_nodes, Measured& measured) {
    const Ports ports = numbered(at_nodes ? node_ports_ : sink_ports_);
    Ports of_survivors = ports;
    of_survivors.erase(coordinator_);
    await_normal();
    const auto begin = std::chrono::steady_clock::now();
    {
      const Endless flooding = flood_of(how, ports);
      const apps::MachineGap machine;
      const std::uint64_t before = elections();
      cluster_->run(without_faults);
      cluster_->catch_up();
      const bool can_keep_up = machine.longest() < of_machine;
      measured.elections += can_keep_up ? elections() - before : 0;
      measured.windows += can_keep_up ? 1 : 0;
    }
    await_normal();
    {
      const Endless flooding = flood_of(how, of_survivors);
      cluster_->run(before_kill);
      await_normal();
      measured.ms.push_back(fail_over());
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    measured.seconds += took.count();
    measured.sent += std::exchange(sent_.count(), 0);
    start(coordinator_);
  }

 private:
  Endless flood_of(Flood how, const Ports& ports) {
    const std::string cluster = cluster_->options().cluster.canonical();
    return Endless([&] { flood(how, ports, cluster, sent_.count()); });
  }

  [[nodiscard]] std::uint64_t elections() const { return cluster_->watch().counts().elections; }

  void start(NodeId node) {
    if (const Expected<> started = cluster_->start(node); !started)
      throw std::runtime_error(started.error().what);
  }

  void await_normal() {
    if (!cluster_->until([this] { return cluster_->normal(); }, patience))
      throw std::runtime_error("no group forms; see " + cluster_->options().directory.string());
  }

  double fail_over() {
    cluster_->catch_up();
    lines_.clear();
    const NodeSet survivors{NodeId{1}, NodeId{2}};
    const Duration fault = std::chrono::steady_clock::now().time_since_epoch();
    cluster_->kill(coordinator_);
    const bool over =
        cluster_->until([&] { return cluster_->watch().normal(survivors, {}); }, patience);
    cluster_->catch_up();
    const auto failover = apps::failover_of(lines_, fault, survivors);
    if (!over || !failover) throw std::runtime_error("the survivors form no new group");
    return static_cast<double>(failover->whole.count()) / 1e6;
  }

  void line(const journal::Line& line) override { lines_.push_back(line); }
  void ended_unasked(NodeId node, int status) override {
    throw std::runtime_error("node " + std::to_string(node.value) + " " +
                             apps::describe_end(status));
  }

  const NodeId coordinator_{3};  // the Bully's coordinator is the highest node
  apps::ReservedPorts node_ports_ = need(apps::ReservedPorts::take(3));
  apps::ReservedPorts sink_ports_ = need(apps::ReservedPorts::take(3));
  Endless sink_{[this] { discard(numbered(sink_ports_)); }};
  Sent sent_;
  std::unique_ptr<apps::Cluster> cluster_;
  std::vector<journal::Line> lines_;
};

bool measure(Flooded& flooded, Flood how, int repetitions) {
  Measured nodes;
  Measured sink;
  for (int i = 0; i < repetitions; ++i) {
    flooded.measure(how, true, nodes);
    flooded.measure(how, false, sink);
  }
  const double ratio = nodes.median() / sink.median();
  std::cout << std::left << std::setw(20) << boost::describe::enum_to_string(how, "?") << std::right
            << std::fixed << std::setprecision(1);
  for (const Measured& one : {nodes, sink})
    std::cout << std::setw(12) << one.median() << std::setw(12)
              << *std::max_element(one.ms.begin(), one.ms.end()) << std::setw(12)
              << static_cast<double>(one.sent) / one.seconds << std::setw(6) << one.elections << '/'
              << std::left << std::setw(3) << one.windows << std::right;
  std::cout << std::setprecision(2) << std::setw(8) << ratio << std::endl;
  return ratio <= 2 && nodes.elections == 0;
}

int run(int repetitions, const char* only) {
  std::cout << std::setw(20) << ""
            << "  of nodes: ms        most      sent/s  elect./s"
            << " of a sink: ms        most      sent/s  elect./s   ratio\n";
  bool well = true;
  bool any = false;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Flood>>([&](auto flood) {
    if (only && std::string_view(only) != flood.name) return;
    any = true;
    const apps::RunDirectory directory = need(apps::RunDirectory::make("", 3));
    Flooded flooded(directory.path(), flood.value == Flood::handshakes);
    const bool this_one = measure(flooded, flood.value, repetitions);
    if (this_one) directory.remove();
    well = well && this_one;
  });
  if (!any) throw std::invalid_argument(std::string("there is no flood called ") + only);
  return well ? 0 : 1;
}

}  // namespace
}  // namespace muster::test

int main(int count, char** arguments) try {
  const int repetitions = count > 1 ? std::atoi(arguments[1]) : 20;
  return muster::test::run(repetitions, count > 2 ? arguments[2] : nullptr);
} catch (const std::exception& error) {
  std::cerr << "floods: " << error.what() << '\n';
  return 1;
}
