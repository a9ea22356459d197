#include "cluster.hpp"

#include "judge.hpp"

#include <muster/storage/sqlite_storage.hpp>
#include <muster/values/text.hpp>

#include <future>

namespace muster::test {

using namespace std::chrono_literals;

Running::Running(int threads) : context(threads), work_(context.get_executor()) {
  for (int at = 0; at < threads; ++at) threads_.emplace_back([this] { context.run(); });
}

Running::~Running() {
  halt_when_idle();
}

void Running::halt_when_idle() {
  work_.reset();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

void Running::go_on() {
  context.restart();
  for (std::thread& thread : threads_) thread = std::thread([this] { context.run(); });
}

void Running::halt() {
  context.stop();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

std::set<std::thread::id> Running::threads() const {
  std::set<std::thread::id> ids;
  for (const std::thread& thread : threads_) ids.insert(thread.get_id());
  return ids;
}

NodeSet nodes(std::initializer_list<std::uint32_t> ids) {
  NodeSet set;
  for (std::uint32_t id : ids) set.insert(NodeId{id});
  return set;
}

Timings patient(Duration T, Duration check_every) {
  Timings timings;
  timings.T = T;
  timings.stop_deadline = timings.start_deadline = timings.reorganize_deadline = 40s;
  timings.check_every = check_every;
  timings.coordinator_timeout = check_every + T;
  return timings;
}

// The end of a process ends all its threads. To imitate this, the threads stop before the node is
// destroyed.
Cluster::Host::~Host() {
  if (running) running->halt();
  node.reset();
  hooks.reset();
}

Cluster::Cluster(ClusterOptions options) : options_(std::move(options)), ports_(options_.nodes) {}

Cluster::~Cluster() {
  for (const auto& [id, host] : hosts_) journals.note(journal::FaultKind::killed, id);
  hosts_.clear();
}

net::NodeOptions Cluster::options_of(std::uint32_t id) const {
  net::NodeOptions options;
  options.config.self = NodeId{id};
  options.config.timings = options_.timings;
  options.config.repairs = options_.repairs;
  for (std::uint32_t at = 1; at <= options_.nodes; ++at) {
    options.config.nodes.insert(NodeId{at});
    options.network.addresses[NodeId{at}] = "127.0.0.1:" + std::to_string(ports_[at - 1]);
  }
  options.cluster = "name=test\n";
  options.lives.hold_down = Duration::zero();  // lives in tests are short
  options.log.level = LogLevel::warning;
  options.journal =
      net::JournalOptions{journal_of(directory_.path(), NodeId{id}), options_.journal_limit};
  if (options_.alter) options_.alter(NodeId{id}, options);
  return options;
}

std::unique_ptr<SafeStorage> Cluster::open(NodeId id) {
  std::unique_ptr<SafeStorage> storage;
  if (options_.sqlite) {
    const auto directory = directory_.path() / ("store" + std::to_string(id.value));
    auto opened = storage::SqliteStorage::open(directory, {"test", id});
    BOOST_TEST_REQUIRE(opened.has_value(), (opened ? "" : opened.error().what));
    storage = std::move(*opened);
  } else {
    auto& kept = cells_[id];
    if (!kept) kept = std::make_shared<storage::MemoryCells>();
    storage = std::make_unique<storage::MemoryStorage>(kept);
  }
  return options_.between ? options_.between(id, std::move(storage)) : std::move(storage);
}

Expected<> Cluster::try_start(std::uint32_t id) {
  const NodeId node{id};
  Host& host = hosts_[node];
  BOOST_REQUIRE(!host.node);
  host.hooks = std::make_unique<Running>(options_.hook_threads);
  host.running = std::make_unique<Running>(options_.context_threads);
  host.node =
      std::make_unique<net::Node>(host.running->context, options_of(id), open(node),
                                  options_.application ? options_.application : stage.make(node),
                                  host.hooks->context.get_executor());
  const Expected<> started = host.node->start();
  if (!started) hosts_.erase(node);
  return started;
}

void Cluster::start(std::uint32_t id) {
  const Expected<> started = try_start(id);
  BOOST_TEST_REQUIRE(started.has_value(), (started ? "" : started.error().what));
}

void Cluster::start_all() {
  for (std::uint32_t id = 1; id <= options_.nodes; ++id) start(id);
}

GroupNumber Cluster::join(std::uint32_t id) {
  start(id);
  return await_all();
}

GroupNumber Cluster::join_all() {
  start_all();
  return await_all();
}

GroupNumber Cluster::lose(std::uint32_t id) {
  kill(id);
  return await_all();
}

std::unique_ptr<Process> Cluster::spawn(std::uint32_t id, const std::vector<std::string>& words) {
  const net::NodeOptions options = options_of(id);
  std::string addresses;
  for (const auto& [node, address] : options.network.addresses)
    addresses += (addresses.empty() ? "" : ",") + address;
  std::vector<std::string> all{"id=" + std::to_string(id), "addresses=" + addresses,
                               "directory=" + directory_.path().string()};
  for_each_field(options.config.timings, [&](const std::string& name, Duration time) {
    all.push_back(name + '=' + std::to_string(time / 1ms));
  });
  all.insert(all.end(), words.begin(), words.end());
  return std::make_unique<Process>(NODE_PROCESS, all,
                                   directory_.path() / ("errors" + std::to_string(++spawned_)));
}

void Cluster::leave(std::uint32_t id) {
  std::promise<void> left;
  node(id).leave([&] { left.set_value(); });
  BOOST_TEST_REQUIRE((left.get_future().wait_for(Bell::generous) == std::future_status::ready),
                     "node " << id << " was to leave");
  hosts_.erase(NodeId{id});
  journals.read_all();
}

void Cluster::leave_all() {
  while (!hosts_.empty()) leave(hosts_.begin()->first.value);
}

void Cluster::kill(std::uint32_t id) {
  journals.note(journal::FaultKind::killed, NodeId{id});
  hosts_.erase(NodeId{id});
  journals.read_all();
}

void Cluster::wipe(std::uint32_t id) {
  journals.note(journal::FaultKind::wiped, NodeId{id});
  cells_.erase(NodeId{id});
  std::filesystem::remove_all(directory_.path() / ("store" + std::to_string(id)));
}

std::string Cluster::make_directory(const std::string& name) {
  const auto path = directory_.path() / name;
  std::filesystem::create_directory(path);
  return path.string();
}

net::Node& Cluster::node(std::uint32_t id) {
  return *hosts_.at(NodeId{id}).node;
}

Running& Cluster::running(std::uint32_t id) {
  return *hosts_.at(NodeId{id}).running;
}

Running& Cluster::hooks(std::uint32_t id) {
  return *hosts_.at(NodeId{id}).hooks;
}

storage::MemoryCells& Cluster::cells(std::uint32_t id) {
  auto& kept = cells_[NodeId{id}];
  if (!kept) kept = std::make_shared<storage::MemoryCells>();
  return *kept;
}

GroupNumber Cluster::await_group(const std::set<std::uint32_t>& members) {
  NodeSet all;
  for (std::uint32_t id : members) all.insert(NodeId{id});
  return await_together(all, NodeId{*members.rbegin()});
}

GroupNumber Cluster::await_all() {
  std::set<std::uint32_t> up;
  for (const auto& [id, host] : hosts_) up.insert(id.value);
  return await_group(up);
}

GroupNumber Cluster::await_together(const NodeSet& members, std::optional<NodeId> coordinator) {
  std::optional<GroupNumber> group;
  await("one group of " + to_text(members), [&] {
    group.reset();
    NodeSet in_it;
    for (NodeId node : members) {
      const auto view = journals.view(node);
      if (!view || view->status != Status::Normal || !view->group) return false;
      if (group && view->group != group) return false;
      group = view->group;
      if (!view->up) continue;
      in_it = *view->up;
      in_it.insert(node);
    }
    return in_it == members && group->coordinator == coordinator.value_or(group->coordinator);
  });
  return *group;
}

void Cluster::await_view(std::uint32_t id, const std::string& what,
                         const std::function<bool(const View&)>& is) {
  await("node " + std::to_string(id) + ' ' + what, [&] {
    const auto view = journals.view(NodeId{id});
    return view && is(*view);
  });
}

void Cluster::await_halted(std::uint32_t id, std::uint32_t by) {
  await_view(id, "halted by node " + std::to_string(by),
             [&](const View& view) { return view.halted_by == NodeId{by}; });
}

std::size_t Cluster::await_line(std::uint32_t id, const std::string& what, std::size_t from,
                                const std::function<bool(const journal::Line&)>& is) {
  std::size_t place = from;
  await("of node " + std::to_string(id) + ": " + what, [&] {
    const auto lines = journals.lines(NodeId{id});
    for (; place < lines.size(); ++place)
      if (is(lines[place])) return true;
    return false;
  });
  return place;
}

void Cluster::judge(const std::set<std::string>& spared) {
  for (const auto& [id, host] : hosts_) journals.note(journal::FaultKind::killed, id);
  hosts_.clear();
  journals.read_all();
  const auto complaints = test::judge(journals, spared);
  for (const std::string& complaint : complaints) BOOST_TEST_ERROR(complaint);
}

void Cluster::never_came(const std::string& what) const {
  std::string story = what + " never came;";
  for (NodeId id : journals.nodes())
    story += "\n  node " + to_text(id) + ": " + to_text(journals.view(id));
  BOOST_FAIL(story);
  throw std::logic_error(story);
}

journal::Ended ended_in(const std::vector<journal::Line>& lines) {
  BOOST_TEST_REQUIRE((!lines.empty() && is_line<journal::Ended>(lines.back())));
  return std::get<journal::Ended>(lines.back());
}

const Letter* letter_in(const journal::Line& line) {
  const auto* step = std::get_if<journal::Step>(&line);
  const auto* received = step ? std::get_if<Received>(&step->event) : nullptr;
  return received ? &received->letter : nullptr;
}

}  // namespace muster::test
