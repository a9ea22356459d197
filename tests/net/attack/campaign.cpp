#include "campaign.hpp"

#include "recovery.hpp"

#include "apps/cluster/cluster.hpp"
#include "apps/cluster/machine.hpp"
#include "apps/demo/directory.hpp"

#include <muster/net/admin.hpp>
#include <muster/net/status.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <boost/json/parse.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <stdexcept>
#include <utility>

namespace muster::test {

using namespace std::chrono_literals;

namespace {

// The attacker uses the name of node 2, so one node above and one below it remain. If two
// connections cross, the one that the higher node dialled stays.
constexpr NodeId down{2};
constexpr NodeId lowest{1};
constexpr Duration patience = 60s;
constexpr Duration for_an_end = 1s;
// Descriptors for unauthenticated peers, observers and askers (SessionLimits, Questions::Limits),
// and the node's own.
constexpr std::size_t most_descriptors = 64 + 16 + 4 + 40;
// A mutated letter may start an election that takes longer than one burst. Its effects are over
// when the group has stayed the same for this number of bursts.
constexpr std::uint64_t bursts_of_letters = 10;

std::size_t descriptors(pid_t process) {
  std::error_code ignored;  // a process that has ended has no descriptors
  const std::filesystem::directory_iterator all("/proc/" + std::to_string(process) + "/fd",
                                                ignored);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::uint64_t most_resident(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  std::uint64_t kilobytes = 0;
  for (std::string word; status >> word;)
    if (word == "VmHWM:") status >> kilobytes;
  return 1024 * kilobytes;
}

apps::ClusterOptions nodes_on(const apps::ReservedPorts& ports, const CampaignOptions& options,
                              const std::filesystem::path& directory, const NodeSet& initialise) {
  apps::ClusterOptions made;
  made.directory = directory;
  made.program = options.program;
  made.cluster.name = "attacked";
  made.cluster.protocol = options.protocol;
  made.cluster.hold_down = Duration::zero();
  // Long timings, for sanitizers and busy machines.
  Timings& timings = made.cluster.timings;
  timings.T = 2s;
  timings.stop_deadline = timings.start_deadline = 8s;
  timings.coordinator_timeout = timings.check_every + timings.T;
  made.cluster.nodes = apps::addresses_on(ports.ports());
  made.application = {"none", 0};
  // AddressSanitizer keeps freed memory, which counts as used, so its quarantine is small. The
  // limit on a single allocation is far above the largest legitimate one, a coordinator's question
  // of 16 MiB in a buffer that doubles as it grows.
  made.launch = [&initialise](NodeId node, apps::ProcessOptions& process) {
    process.environment.emplace_back("ASAN_OPTIONS=quarantine_size_mb=8:max_allocation_size_mb=64");
    if (initialise.contains(node)) process.arguments.emplace_back("--initialise");
  };
  return made;
}

template <class T>
T need(Expected<T> made) {
  if (!made) throw std::runtime_error(made.error().what);
  return *std::move(made);
}

class Campaign final : apps::Cluster::Listener {
 public:
  Campaign(const CampaignOptions& options, apps::Cluster& cluster, NodeSet& initialise)
      : options_(options),
        cluster_(cluster),
        initialise_(initialise),
        attacker_(options.seed),
        random_(options.seed) {
    cluster_.listen(this);
    scene_.down = down;
    scene_.cluster = cluster.options().cluster.canonical();
    for (const auto& [node, address] : cluster.options().cluster.nodes)
      scene_.ports[node] = address.port;
  }
  ~Campaign() { cluster_.listen(nullptr); }
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;

  CampaignReport run() {
    for (NodeId node : cluster_.nodes())
      if (node != down && !cluster_.start(node)) wrong("a node cannot be started");
    await_group();
    const auto end = std::chrono::steady_clock::now() + options_.time;
    Duration for_letters = options_.time / 5;
    if (options_.only)
      for_letters = *options_.only == Attack::letters_of_a_node ? options_.time : Duration::zero();
    while (good() && std::chrono::steady_clock::now() < end - for_letters) burst(any_kind());
    while (good() && std::chrono::steady_clock::now() < end) letters();
    attacker_.let_go();
    if (good()) recover();
    if (!cluster_.terminate_all()) wrong("a node did not leave in order");
    return report_;
  }

 private:
  [[nodiscard]] bool good() const { return report_.wrong.empty(); }

  // First makes one attack of each kind, and then attacks of random kinds.
  Attack any_kind() {
    const auto count = static_cast<std::uint64_t>(Attack::letters_of_a_node);
    const auto kind = bursts_ < count ? bursts_ : random_() % count;
    return options_.only.value_or(static_cast<Attack>(kind));
  }

  // The node in whose name the attacker spoke is started too.
  void recover() {
    const std::string what = Recovery(cluster_, initialise_).become_whole();
    cluster_.listen(this);
    if (!what.empty()) wrong(what);
  }

  // Without authentication a node believes each letter in the session that it has with a peer. So a
  // mutated letter may begin an election. The letter must not end any node, and the nodes must
  // become one group again.
  void letters() {
    for (std::uint64_t i = 0; good() && i < bursts_of_letters; ++i) {
      tell(attacker_.attack(Attack::letters_of_a_node, scene_), Attack::letters_of_a_node);
      look_at_processes();
    }
    attacker_.let_go();
    const std::uint64_t before = elections_;
    await_group();
    report_.elections += elections_ - before;
  }

  void burst(Attack kind) {
    tell(attacker_.attack(kind, scene_), kind);
    look_at_processes();
    for (const auto& [node, life] : scene_.lives) ask(node);
    cluster_.catch_up();
    const auto& counts = cluster_.watch().counts();
    if (counts.elections == elections_) return;
    std::string why = "an election began";
    for (const auto& [node, seen] : cluster_.watch().nodes())
      why += "; node " + to_text(node) + ": " + seen.reasons.last().evidence;
    wrong(why);
  }

  void tell(const Tally& tally, Attack kind) {
    Tally& sum = report_.tallies[kind];
    sum.bursts += tally.bursts;
    sum.connections += tally.connections;
    sum.hellos += tally.hellos;
    sum.frames += tally.frames;
    sum.greeted += tally.greeted;
    sum.refused += tally.refused;
    last_kinds_ += (last_kinds_.empty() ? "" : ", ") + to_text(kind);
    if (++bursts_ % 4 == 0) last_kinds_ = to_text(kind);
  }

  void look_at_processes() {
    cluster_.turn(Duration::zero());
    for (const auto& [node, life] : scene_.lives) {
      const std::uint64_t resident = most_resident(cluster_.pid(node));
      report_.resident = std::max(report_.resident, resident);
      if (resident > options_.most_resident)
        wrong("node " + to_text(node) + " takes " + std::to_string(resident) + " bytes");
      const std::size_t held = descriptors(cluster_.pid(node));
      report_.descriptors = std::max(report_.descriptors, held);
      if (held > most_descriptors)
        wrong("node " + to_text(node) + " holds " + std::to_string(held) + " descriptors");
    }
  }

  void ask(NodeId node) {
    if (!good()) return;
    const auto question = [&] {
      return net::ask_observer("127.0.0.1:" + std::to_string(scene_.ports.at(node)), scene_.cluster,
                               patience);
    };
    auto said = question();
    const std::string unheard = said ? "" : said.error().what;
    if (!said) {
      // If the node's process has ended, reports the reason for that end instead, which explains
      // more.
      cluster_.until([this] { return !good(); }, for_an_end);
      if (!good()) return;
      said = question();
    }
    if (!said) return wrong("node " + to_text(node) + ": " + said.error().what);
    const auto status = read_json<net::NodeStatus>(boost::json::parse(*said));
    if (!status || status->group != scene_.group)
      return wrong("node " + to_text(node) + " is not in the group any more: " + *said);
    // A flood uses up the quota of its machine. The test asks from the same machine, so the node
    // may close the test's question too. An unanswered question is no error if the node's counter
    // of closed connections has grown.
    const std::uint64_t crowded = std::exchange(crowded_[node], status->counters.crowded);
    if (!unheard.empty() && status->counters.crowded == crowded)
      wrong("node " + to_text(node) + " closed a question, and had room: " + unheard);
  }

  void await_group() {
    if (!good()) return;
    if (!await_together(
            cluster_, [this] { return !good(); }, patience))
      return wrong("there is no group");
    scene_.lives.clear();
    for (NodeId node : cluster_.live())
      scene_.lives[node] = cluster_.watch().node(node).incarnation;
    scene_.group = cluster_.watch().node(lowest).view.group.value_or(GroupNumber{});
    elections_ = cluster_.watch().counts().elections;
  }

  void ended_unasked(NodeId node, int status) override {
    wrong("node " + to_text(node) + " " + apps::describe_end(status));
  }

  void wrong(const std::string& what) {
    if (!good()) return;
    report_.wrong = to_text(options_.protocol) + ", seed " + std::to_string(options_.seed) +
                    ", burst " + std::to_string(bursts_) + " (the last ones: " + last_kinds_ +
                    "): " + what + "; the machine left it without a processor for up to " +
                    std::to_string(gap_.longest() / 1ms) + " ms; see " +
                    cluster_.options().directory.string();
  }

  const CampaignOptions& options_;
  apps::Cluster& cluster_;
  NodeSet& initialise_;
  apps::MachineGap gap_;
  Attacker attacker_;
  std::mt19937_64 random_;
  Scene scene_;
  CampaignReport report_;
  /// For each node, the number of connections that it closed to make room.
  std::map<NodeId, std::uint64_t> crowded_;
  std::uint64_t bursts_{}, elections_{};
  std::string last_kinds_;
};

}  // namespace

std::vector<Attack> CampaignReport::missing() const {
  std::vector<Attack> kinds;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Attack>>([&](auto kind) {
    if (!tallies.contains(kind.value)) kinds.push_back(kind.value);
  });
  return kinds;
}

AttackedCluster::AttackedCluster(const CampaignOptions& options, std::uint32_t nodes)
    : directory(need(apps::RunDirectory::make("", nodes))),
      ports(need(apps::ReservedPorts::take(nodes))),
      cluster(need(apps::Cluster::make(nodes_on(ports, options, directory.path(), initialise)))) {}

CampaignReport attack_trial(const CampaignOptions& options) {
  AttackedCluster attacked(options, 4);
  const CampaignReport report = Campaign(options, *attacked.cluster, attacked.initialise).run();
  if (report.wrong.empty()) attacked.directory.remove();
  return report;
}

}  // namespace muster::test
