#include "apps/cluster/cluster.hpp"

#include "apps/base/interrupt.hpp"
#include "apps/base/pipes.hpp"
#include "apps/base/text.hpp"
#include "apps/certificates/authority.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

// How often the journals are read, and the longest time between a line's time stamp and the moment
// when the line is in the file.
constexpr Duration reading_period = 10ms;
constexpr Duration longest_way = 10ms;
constexpr int record_pipe_bytes = 1 << 20;

Duration now() {
  return Duration(monotonic_ns());
}

Failure file_failure(const std::filesystem::path& file) {
  return {ExitCode::io_error, "cannot write " + file.string() + ": " + std::strerror(errno)};
}

}  // namespace

std::map<NodeId, Address> addresses_on(const std::vector<std::uint16_t>& ports) {
  std::map<NodeId, Address> addresses;
  std::uint32_t id = 0;
  for (std::uint16_t port : ports) addresses[NodeId{++id}] = {"127.0.0.1", port};
  return addresses;
}

Cluster::Cluster(ClusterOptions options) : options_(std::move(options)) {
  for (NodeId node : nodes()) slots_.emplace(node, journal(node));
}

Expected<std::unique_ptr<Cluster>> Cluster::make(ClusterOptions options) {
  std::unique_ptr<Cluster> cluster(new Cluster(std::move(options)));
  if (const auto prepared = cluster->prepare(); !prepared) return prepared.error();
  return cluster;
}

Expected<> Cluster::certify() const {
  const auto authority = certificates::Authority::create(
      options_.directory / "ca", options_.cluster.name, certificates::Days(2));
  if (!authority) return authority.error();
  for (NodeId node : nodes()) {
    const net::TlsOptions files = tls_of(node);
    const auto made = authority->issue({net::certificate_name(files, node)}, certificates::Days(1));
    if (!made) return made.error();
    std::ofstream(files.certificate) << made->certificate;
    std::ofstream(files.key) << made->key;
  }
  return {};
}

net::TlsOptions Cluster::tls_of(NodeId node) const {
  const std::string own = (options_.directory / ("n" + std::to_string(node.value))).string();
  return {(options_.directory / "ca" / "ca.crt").string(), own + ".crt", own + ".key", "",
          options_.cluster.name};
}

Expected<> Cluster::prepare() {
  if (options_.certified)
    if (auto done = certify(); !done) return done;
  for (NodeId node : nodes()) {
    const auto file = config_file(node);
    std::ofstream(file) << write_config(config_of(node));
    if (const auto read = load_config(file); !read) return read.error();
  }
  const auto faults = options_.directory / "faults.jsonl";
  fault_journal_ =
      Descriptor(::open(faults.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!fault_journal_) return file_failure(faults);
  auto records = make_pipe();
  auto death = make_pipe();
  if (!records) return records.error();
  if (!death) return death.error();
  records_ = std::move(*records);
  death_ = std::move(*death);
  fcntl(records_.write.fd(), F_SETPIPE_SZ, record_pipe_bytes);
  fcntl(records_.write.fd(), F_SETFL, O_NONBLOCK);
  fcntl(records_.read.fd(), F_SETFL, O_NONBLOCK);
  return {};
}

std::filesystem::path Cluster::data(NodeId node) const {
  return options_.directory / ("n" + std::to_string(node.value));
}
std::filesystem::path Cluster::journal(NodeId node) const {
  return data(node) / "journal.jsonl";
}
std::filesystem::path Cluster::config_file(NodeId node) const {
  return options_.directory / ("n" + std::to_string(node.value) + ".toml");
}
std::filesystem::path Cluster::output(NodeId node) const {
  return options_.directory / ("n" + std::to_string(node.value) + ".log");
}

std::vector<std::filesystem::path> Cluster::journals() const {
  std::vector<std::filesystem::path> files{options_.directory / "faults.jsonl"};
  std::error_code error;
  for (const auto& [node, slot] : slots_) {
    if (std::filesystem::exists(journal(node), error)) files.push_back(journal(node));
  }
  return files;
}

std::uint64_t Cluster::torn_lines() const {
  std::uint64_t torn = 0;
  for (const auto& [node, slot] : slots_) torn += slot.tail.torn();
  return torn;
}

NodeConfig Cluster::config_of(NodeId node) const {
  NodeConfig config;
  config.self = node;
  config.data = data(node);
  config.cluster = options_.cluster;
  config.journal = JournalConfig{journal(node)};
  config.log.level = LogLevel::warning;  // the program that runs the nodes reports the rest
  config.application = options_.application;
  if (options_.certified) config.tls = tls_of(node);
  if (options_.configure) options_.configure(config);
  return config;
}

Expected<> Cluster::start(NodeId node) {
  ProcessOptions process;
  process.program = options_.program;
  process.arguments = {"node", "--config", config_file(node).string()};
  process.output = output(node);
  process.holds_signals = true;  // a node that gets SIGTERM while it starts also leaves in order
  process.inherited = {records_.write.fd(), death_.read.fd()};
  process.environment = {
      std::string(record_pipe_variable) + "=" + std::to_string(records_.write.fd()),
      std::string(death_pipe_variable) + "=" + std::to_string(death_.read.fd())};
  const auto network = options_.networks.find(node);
  if (network != options_.networks.end()) process.network = network->second;
  if (options_.launch) options_.launch(node, process);
  since_[node] = now();
  auto launched = Process::launch(process);
  if (!launched) return launched.error();
  Slot& slot = slots_.at(node);
  slot.process = std::move(*launched);
  slot.paused = false;
  return {};
}

void Cluster::note(journal::FaultKind kind, std::optional<NodeId> node) {
  const journal::Fault fault{now(), kind, node, std::nullopt};
  std::string line;
  journal::fault_line(line, fault);
  [[maybe_unused]] const auto written = ::write(fault_journal_.fd(), line.data(), line.size());
  waiting_.push_back(fault);
  if (kind == journal::FaultKind::killed || kind == journal::FaultKind::paused ||
      kind == journal::FaultKind::reset || kind == journal::FaultKind::cut) {
    ++faults_;
  }
}

void Cluster::kill(NodeId node) {
  Slot& slot = slots_.at(node);
  if (!slot.process) return;
  note(journal::FaultKind::killed, node);
  slot.process->signal(SIGKILL);
  slot.process->wait();
  slot.process.reset();
  // A new life can have begun between the time stamp above and the signal. This second note ends
  // that life too.
  note(journal::FaultKind::ended, node);
  slot.paused = false;
}

void Cluster::pause(NodeId node) {
  Slot& slot = slots_.at(node);
  if (!slot.process || slot.paused) return;
  note(journal::FaultKind::paused, node);
  slot.process->signal(SIGSTOP);
  slot.paused = true;
}

void Cluster::resume(NodeId node) {
  Slot& slot = slots_.at(node);
  if (!slot.process || !slot.paused) return;
  note(journal::FaultKind::resumed, node);
  since_[node] = now();
  slot.process->signal(SIGCONT);
  slot.paused = false;
}

bool Cluster::terminate_all() {
  terminating_ = true;
  for (NodeId node : paused()) resume(node);
  const NodeSet leaving = live();
  for (NodeId node : leaving) {
    note(journal::FaultKind::terminated, node);
    slots_.at(node).process->signal(SIGTERM);
  }
  const Timings& timings = options_.cluster.timings;
  const Duration patience = 5s + 4 * (timings.T + timings.stop_deadline);
  bool in_order = true;
  const Duration deadline = now() + patience;
  for (NodeId node : leaving) {
    Process& process = *slots_.at(node).process;
    std::optional<int> end;
    while (!(end = process.try_wait()) && now() < deadline) turn(reading_period);
    const bool well = end && WIFEXITED(*end) && WEXITSTATUS(*end) == 0;
    if (!end) kill(node);
    if (!well && listener_ != nullptr) listener_->ended_unasked(node, end.value_or(SIGKILL));
    in_order = in_order && well;
    slots_.at(node).process.reset();
  }
  catch_up();
  return in_order;
}

NodeSet Cluster::live() const {
  NodeSet found;
  for (const auto& [node, slot] : slots_) {
    if (slot.process && !slot.paused) found.insert(node);
  }
  return found;
}

NodeSet Cluster::paused() const {
  NodeSet found;
  for (const auto& [node, slot] : slots_) {
    if (slot.process && slot.paused) found.insert(node);
  }
  return found;
}

NodeSet Cluster::down() const {
  NodeSet found;
  for (const auto& [node, slot] : slots_) {
    if (!slot.process) found.insert(node);
  }
  return found;
}

pid_t Cluster::pid(NodeId node) const {
  const auto& process = slots_.at(node).process;
  return process ? process->pid() : 0;
}

bool Cluster::normal() const {
  return watch_.normal(live(), since_);
}

void Cluster::turn(Duration wait) {
  pollfd news{records_.read.fd(), POLLIN, 0};
  const Duration reading = std::max(Duration::zero(), read_at_ + reading_period - now());
  const Duration least = std::min(wait, reading);
  const timespec time{least / 1s, (least % 1s) / 1ns};
  ppoll(&news, 1, &time, nullptr);
  if ((news.revents & POLLIN) != 0) read_records();
  if (now() < read_at_ + reading_period) return;
  read_at_ = now();
  if (!terminating_) reap();
  read_journals(read_at_ - longest_way);
}

void Cluster::run(Duration time) {
  const Duration end = now() + time;
  while (now() < end && caught_signal() == 0) turn(end - now());
}

bool Cluster::until(const std::function<bool()>& done, Duration within) {
  const Duration end = now() + within;
  while (!done()) {
    if (now() >= end || caught_signal() != 0) return false;
    turn(end - now());
  }
  return true;
}

void Cluster::catch_up() {
  read_records();
  read_journals(now());
}

void Cluster::read_records() {
  std::array<char, 1 << 16> buffer;
  for (ssize_t size = 0; (size = ::read(records_.read.fd(), buffer.data(), buffer.size())) > 0;) {
    resource_.take({buffer.data(), static_cast<std::size_t>(size)}, now());
  }
}

void Cluster::read_journals(Duration up_to) {
  for (auto& [node, slot] : slots_) slot.tail.read(waiting_);
  std::stable_sort(waiting_.begin(), waiting_.end(), [](const auto& left, const auto& right) {
    return journal::time_of(left) < journal::time_of(right);
  });
  const auto end = std::find_if(waiting_.begin(), waiting_.end(),
                                [&](const auto& line) { return journal::time_of(line) > up_to; });
  for (auto line = waiting_.begin(); line != end; ++line) {
    const bool formed = watch_.take(*line);
    if (listener_ == nullptr) continue;
    listener_->line(*line);
    if (formed) listener_->formed(watch_.formed().back());
  }
  waiting_.erase(waiting_.begin(), end);
}

void Cluster::reap() {
  for (auto& [node, slot] : slots_) {
    if (!slot.process) continue;
    const auto status = slot.process->try_wait();
    if (!status) continue;
    slot.process.reset();
    note(journal::FaultKind::ended, node);
    if (listener_ != nullptr) listener_->ended_unasked(node, *status);
  }
}

}  // namespace muster::apps
