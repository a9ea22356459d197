#include "network.hpp"

#include "session_driver.hpp"

#include <algorithm>

namespace muster::lab::simulated {

Duration Network::delay() {
  return world_.random.between(world_.options.least_delay, *world_.options.most_delay);
}

void Network::listen(NodeId node, std::shared_ptr<Process> process, SessionDriver* sessions,
                     Answerer answerer) {
  hosts_[node.value] = {std::move(process), sessions, std::move(answerer), false};
}

// An extra delay before the process notices an arrival. The delay is zero if all delays of frames
// are equal.
Duration Network::lateness() {
  constexpr std::uint64_t times = 16;
  if (!world_.random.one_in(times)) return {};
  return world_.random.between({}, (*world_.options.most_delay - world_.options.least_delay) / 2);
}

// --- Dialling

void Network::dial(const std::shared_ptr<Process>& process, SessionDriver* sessions, NodeId from,
                   NodeId to, std::uint64_t dial) {
  world_.agenda.after(delay(), [this, process, sessions, from, to, dial] {
    dial_arrives(process, sessions, from, to, dial);
  });
}

void Network::dial_arrives(const std::shared_ptr<Process>& process, SessionDriver* sessions,
                           NodeId from, NodeId to, std::uint64_t dial) {
  const Host& host = hosts_[to.value];
  if (process->over() || host.off || is_cut(from, to) || is_cut(to, from)) return;
  ConnectionPtr connection;
  if (host.process && !host.process->over()) {
    connection = std::make_shared<Connection>();
    connection->sides[0] = {from, process, sessions};
    connection->sides[1] = {to, host.process, host.sessions};
    forget_closed();
    connections_.push_back(connection);
    host.sessions->arrived(connection, 1);
  }
  world_.agenda.after(delay(), [this, process, sessions, from, to, dial, connection] {
    if (is_cut(to, from)) return;
    process->arrive([=] { sessions->dial_ended(to, dial, connection); });
  });
}

// Closed connections are forgotten whenever the number of connections has doubled.
void Network::forget_closed() {
  if (connections_.size() < 2 * kept_) return;
  std::erase_if(connections_, [](const ConnectionPtr& old) {
    return old->broken || (!old->sides[0].open && !old->sides[1].open);
  });
  kept_ = std::max<std::size_t>(connections_.size(), 64);
}

// --- Frames

// If the two refuse each other, the Hello gets a wrong text of the cluster, so that both learn that
// they differ.
void Network::send(const ConnectionPtr& connection, std::size_t side, Frame frame) {
  auto* carried = refusals_.empty() ? nullptr : std::get_if<host::Frame>(&frame);
  auto* hello = carried ? std::get_if<host::Hello>(carried) : nullptr;
  const auto& [dialled, accepted] = connection->sides;
  if (hello && refusals_.contains(std::minmax(dialled.node, accepted.node)))
    hello->cluster += "refused=" + std::to_string(side) + '\n';
  push(connection, 1 - side, std::move(frame));
}

void Network::close(const ConnectionPtr& connection, std::size_t side) {
  if (!std::exchange(connection->sides[side].open, false)) return;
  push(connection, 1 - side, Closed{});
}

void Network::push(const ConnectionPtr& connection, std::size_t to, Frame frame) {
  connection->sides[to].coming.push_back(std::move(frame));
  schedule(connection, to);
}

void Network::schedule(const ConnectionPtr& connection, std::size_t to) {
  Connection::Side& side = connection->sides[to];
  side.last = std::max(side.last, world_.agenda.now() + delay());
  world_.agenda.at(side.last, [this, connection, to] { arrives(connection, to); });
}

void Network::arrives(const ConnectionPtr& connection, std::size_t to) {
  Connection::Side& side = connection->sides[to];
  if (is_cut(connection->sides[1 - to].node, side.node)) {
    ++side.held;
    return;
  }
  if (side.coming.empty()) return;  // the frame was lost
  Frame& frame = side.coming.front();
  const bool lives = !side.process->over();
  // The machine refuses on behalf of a process that is over.
  const bool answers = !lives && !hosts_[side.node.value].off &&
                       !std::holds_alternative<Closed>(frame) && !connection->broken;
  if (lives) side.received.push_back(std::move(frame));
  side.coming.erase(side.coming.begin());
  if (lives) return side.sessions->arrived(connection, to);
  if (!answers) return;
  connection->broken = true;
  push(connection, 1 - to, Closed{});
}

// --- Questions

std::shared_ptr<Asked> Network::ask(const std::shared_ptr<Process>& process, NodeId to,
                                    Inquiry inquiry, const Answered& answered) {
  const NodeId from = inquiry.from;
  const auto asked = std::make_shared<Asked>();
  const Answered reply = [this, process, from, to, answered](Done<Bytes>::Outcome answer) {
    world_.agenda.after(delay(), [this, process, from, to, answered, answer] {
      if (is_cut(to, from)) return;
      process->arrive([answered, answer] { answered(answer); });
    });
  };
  world_.agenda.after(delay(), [this, asked, from, to, inquiry = std::move(inquiry), reply] {
    const Host& host = hosts_[to.value];
    if (!host.process || asked->given_up || is_cut(from, to)) return;
    asked->by = host.process;
    host.process->arrive([asked, inquiry, reply, take = host.answerer.asked] {
      if (!asked->given_up) asked->number = take(inquiry, reply);
    });
  });
  return asked;
}

void Network::give_up(const std::shared_ptr<Asked>& asked, NodeId from, NodeId to) {
  if (std::exchange(asked->given_up, true) || !asked->by) return;
  world_.agenda.after(delay(), [this, asked, from, to] {
    const Host& host = hosts_[to.value];
    if (host.process != asked->by || is_cut(from, to)) return;
    asked->by->arrive(
        [asked, not_wanted = host.answerer.not_wanted] { not_wanted(asked->number); });
  });
}

// --- Faults

void Network::on_process_ended(NodeId node, bool machine_off, bool lose) {
  Host& host = hosts_[node.value];
  host.off = machine_off;
  for (const ConnectionPtr& connection : connections_) {
    for (std::size_t side = 0; side < 2; ++side) {
      Connection::Side& mine = connection->sides[side];
      if (mine.process != host.process || !std::exchange(mine.open, false)) continue;
      std::vector<Frame>& sent = connection->sides[1 - side].coming;
      if (lose) sent.resize(world_.random.below(sent.size() + 1));
      if (!machine_off) push(connection, 1 - side, Closed{});
    }
  }
  host.process.reset();
  host.sessions = nullptr;
  host.answerer = {};
}

void Network::heal(NodeId from, NodeId to) {
  cuts_.erase({from, to});
  for (const ConnectionPtr& connection : connections_)
    for (std::size_t side = 0; side < 2; ++side)
      if (connection->sides[side].node == to && connection->sides[1 - side].node == from)
        for (std::size_t held = std::exchange(connection->sides[side].held, 0); held > 0; --held)
          schedule(connection, side);
}

bool Network::reset(NodeId a, NodeId b) {
  bool any = false;
  for (const ConnectionPtr& connection : connections_) {
    const NodeId dialled = connection->sides[0].node;
    const NodeId accepted = connection->sides[1].node;
    if (std::minmax(dialled, accepted) != std::minmax(a, b) || connection->broken) continue;
    if (!connection->sides[0].open || !connection->sides[1].open) continue;
    any = connection->broken = true;
    for (std::size_t side = 0; side < 2; ++side) {
      connection->sides[side].coming.clear();
      push(connection, side, Closed{});
    }
  }
  return any;
}

}  // namespace muster::lab::simulated
