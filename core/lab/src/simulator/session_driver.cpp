#include "session_driver.hpp"

#include <algorithm>
#include <utility>

namespace muster::lab::simulated {

namespace {

host::SessionConfig session_config(const Config& config, const std::string& cluster,
                                   const SafeState& safe, std::uint64_t instance) {
  host::SessionConfig made;
  made.self = {config.self, safe.incarnation, instance, cluster};
  for (NodeId node : config.nodes)
    if (node != config.self) made.addresses.emplace(node, std::string());
  made.T = config.timings.T;
  // All nodes may dial at the same time.
  made.limits.unknown_peers = std::max(made.limits.unknown_peers, 2 * config.nodes.size());
  return made;
}

}  // namespace

SessionDriver::SessionDriver(Network& network, std::shared_ptr<Process> process,
                             const Config& config, const std::string& cluster,
                             const SafeState& safe, Handlers handlers)
    : network_(network),
      process_(std::move(process)),
      handlers_(std::move(handlers)),
      config_(session_config(config, cluster, safe, process_->world.random.next() | 1)),
      sessions_(host::Sessions::begin(config_, safe)) {}

void SessionDriver::take(host::SessionInput input) {
  host::SessionOutputs outputs;
  outputs.reserve(4);
  sessions_.take(config_, now(), std::move(input), outputs);
  for (host::SessionOutput& output : outputs)
    std::visit([this](auto& one) { perform(one); }, output);
}

host::Time SessionDriver::now() {
  return clock_ = std::max(clock_, process_->now_by_its_clock());
}

template <class F>
void SessionDriver::after(Duration delay, F work) {
  process_->after(delay, [this, work = std::move(work)] {
    work();
    handlers_.told();
  });
}

// --- Outputs of the sessions

void SessionDriver::perform(const host::Dial& dial) {
  const std::uint64_t number = dials_[dial.node] = ++last_dial_;
  network_.dial(process_, this, config_.self.id, dial.node, number);
  after(config_.T, [this, node = dial.node, number] {
    const auto out = dials_.find(node);
    if (out == dials_.end() || out->second != number) return;
    dials_.erase(out);
    take(host::DialFailed{node, host::DialEnd::silence});
  });
}

void SessionDriver::dial_ended(NodeId to, std::uint64_t dial, const ConnectionPtr& connection) {
  const auto out = dials_.find(to);
  if (out == dials_.end() || out->second != dial) {
    if (connection) network_.close(connection, 0);
    return;
  }
  dials_.erase(out);
  if (!connection) {
    take(host::DialFailed{to, host::DialEnd::refused});
  } else if (!connection->sides[0].received.empty()) {  // accepted by a process that was over
    network_.close(connection, 0);
    take(host::DialFailed{to, host::DialEnd::reset});
  } else {
    take(host::Dialled{to, add({connection, 0})});
  }
  handlers_.told();
}

host::ConnectionId SessionDriver::add(const End& end) {
  const host::ConnectionId number{++last_number_};
  connections_.emplace(number, end);
  end.connection->sides[end.side].number = number;
  return number;
}

void SessionDriver::perform(host::Write& write) {
  const End& end = connections_.at(write.connection);
  if (const auto* carried = std::get_if<host::Carried>(&write.frame)) lie_before(end, *carried);
  network_.send(end.connection, end.side, std::move(write.frame));
}

// The forged letter has the number of the next real one, which follows it.
void SessionDriver::lie_before(const End& end, const host::Carried& carried) {
  constexpr CallNumber nobodys{std::uint64_t{1} << 40};
  const NodeId to = end.connection->sides[1 - end.side].node;
  const auto lie = lies_.find(to);
  if (lie == lies_.end()) return;
  host::Carried forged = carried;
  forged.letter.call = nobodys;
  forged.letter.message = std::move(lie->second);
  forged.letter.by_quorum.reset();
  lies_.erase(lie);
  Surroundings& world = process_->world;
  ++world.forged;
  world.write(
      journal::Fault{world.agenda.now(), journal::FaultKind::reset, config_.self.id, NodeSet{to}});
  network_.send(end.connection, end.side, host::Frame(std::move(forged)));
}

// Written frames leave at once, so there is room again.
void SessionDriver::perform(const host::TellRoom& room) {
  after(Duration{}, [this, connection = room.connection] { take(host::Writable{connection}); });
}

void SessionDriver::perform(const host::Close& close) {
  const auto at = connections_.find(close.connection);
  if (at == connections_.end()) return;
  const End end = at->second;
  connections_.erase(at);
  network_.close(end.connection, end.side);
}

void SessionDriver::perform(const host::Wake& wake) {
  after(wake.at - clock_, [this, at = wake.at, number = ++wakes_] {
    if (number != wakes_) return;
    clock_ = std::max(clock_, at);
    take(host::Due{});
  });
}

// --- Inputs to the sessions

void SessionDriver::arrived(const ConnectionPtr& connection, std::size_t side) {
  arrived_.push_back({connection, side});
  if (std::exchange(turn_comes_, true)) return;
  const Duration late = network_.lateness();
  const auto turn = [this] { this->turn(); };
  if (late == Duration::zero())
    process_->arrive(turn);
  else
    process_->world.agenda.after(late, [weak = std::weak_ptr(process_), turn] {
      if (const auto process = weak.lock()) process->arrive(turn);
    });
}

void SessionDriver::turn() {
  turn_comes_ = false;
  for (std::size_t i = 0; i < arrived_.size(); ++i) read(std::exchange(arrived_[i], {}));
  arrived_.clear();
  handlers_.told();
}

// An accepted connection is given a number with its first read.
void SessionDriver::read(const End& end) {
  Connection::Side& side = end.connection->sides[end.side];
  if (side.number.value == 0) {
    if (end.side == 0 || !side.open) return;  // its dial has not ended yet
    take(host::Accepted{add(end), {}});
  }
  while (side.open && !side.received.empty()) {
    Frame frame = std::move(side.received.front());
    side.received.erase(side.received.begin());
    if (auto* carried = std::get_if<host::Frame>(&frame)) {
      take(host::Came{side.number, std::move(*carried), 0});
      continue;
    }
    side.open = false;
    connections_.erase(side.number);
    take(host::Closed{side.number, host::ConnectionEnd::finished, "closed"});
  }
}

void SessionDriver::perform(const host::Drain& drain) {
  for (host::ConnectionId number : drain.connections) {
    const auto at = connections_.find(number);
    if (at == connections_.end()) continue;
    const End end = at->second;
    network_.drained(end.connection->sides[end.side].received.size());
    read(end);
  }
  for (std::size_t i = 0; drain.listener && i < arrived_.size(); ++i) {
    const End end = arrived_[i];
    if (end.side == 0 || end.connection->sides[1].number.value != 0) continue;
    network_.drained(end.connection->sides[1].received.size());
    read(end);
  }
  take(host::Drained{});
}

}  // namespace muster::lab::simulated
