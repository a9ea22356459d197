#include "apps/election/election.hpp"

#include <muster/lab/world.hpp>

#include <algorithm>
#include <stdexcept>
#include <variant>

/// Measures one election in a simulated world in which nothing else fails.

namespace muster::apps::election {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

// These times differ so much that the duration of an election shows how many of each it contains. T
// is longer than all round trips of an election. A period of Check is longer than all its times T.
constexpr Duration half_trip = microseconds(1);
constexpr Duration T = seconds(1);
constexpr Duration check_period = 64 * T;
constexpr Duration notices_after = 100 * T;
// Factor of the timers of nodes that must not notice the failure.
constexpr int idle = 1000;

Timings timings() {
  Timings timings;
  timings.T = T;
  timings.check_every = check_period;
  timings.coordinator_timeout = notices_after;
  return timings;
}

/// Runs one world and counts in it.
class Election {
 public:
  Election(Kind kind, Case which, std::uint32_t nodes, std::uint32_t down)
      : kind_(kind), which_(which), nodes_(nodes), next_{nodes - down}, standings_(nodes + 1) {}

  Cost run() {
    lab::World world(options());
    reach(world, NodeId{nodes_}, nodes_);
    for (std::uint32_t node = nodes_; node > next_.value; --node) world.power_cut(NodeId{node});
    counting_ = true;
    reach(world, next_, next_.value);
    return cost(world.now());
  }

 private:
  struct Standing {
    bool normal = false;
    std::optional<NodeId> coordinator;
  };

  lab::WorldOptions options() {
    lab::WorldOptions options;
    options.nodes = nodes_;
    options.timings = timings();
    options.timings_of = [this](NodeId node) { return timings_of(node); };
    options.least_delay = half_trip;
    options.most_delay = half_trip;
    options.commit_time = [](NodeId) { return Duration{}; };
    options.keep_lines = false;
    options.watch = [this](const journal::Line& line) { see(line); };
    if (kind_ == Kind::paper) options.repairs = Repairs::none();
    if (kind_ == Kind::textbook) options.protocol = ProtocolName::textbook;
    if (kind_ == Kind::invitation) options.protocol = ProtocolName::invitation;
    return options;
  }

  /// The first node whose notice of the failure leads to the new coordinator. The time of the
  /// election is counted from that notice.
  [[nodiscard]] NodeId noticing() const {
    return kind_ == Kind::textbook && which_ == Case::worst ? NodeId{1} : next_;
  }

  [[nodiscard]] Timings timings_of(NodeId node) const {
    Timings its = timings();
    const bool alone = which_ == Case::best || kind_ == Kind::textbook;
    if (!alone || node == noticing()) return its;
    if (kind_ != Kind::invitation)
      its.coordinator_timeout *= idle;
    else if (node < next_)
      its.check_every *= idle;
    return its;
  }

  void see(const journal::Line& line) {
    const auto* step = std::get_if<journal::Step>(&line);
    if (!step) return;
    const NodeId node = step->stamp.node;
    const auto* expired = std::get_if<Expired>(&step->event);
    if (counting_ && !noticed_ && node == noticing() && expired &&
        expired->timer == Timer::coordinator)
      noticed_ = step->stamp.t;
    if (counting_)
      for (const Action& action : step->actions)
        if (const auto* send = std::get_if<Send>(&action)) messages_ += counts(*send, *step);
    stand(node, {step->view.status == Status::Normal, step->view.coordinator});
  }

  // Textbooks do not say how a node notices the failure, so AreYouThere and its answer do not count
  // for them.
  [[nodiscard]] std::uint64_t counts(const Send& send, const journal::Step& step) const {
    if (kind_ != Kind::textbook) return 1;
    if (std::holds_alternative<AreYouThere>(send.letter.message)) return 0;
    const auto* received = std::get_if<Received>(&step.event);
    const bool answers_it = is_answer(send.letter) && received &&
                            std::holds_alternative<AreYouThere>(received->letter.message);
    return answers_it ? 0 : 1;
  }

  void stand(NodeId node, Standing now) {
    Standing& before = standings_.at(node.value);
    const auto is_there = [this](const Standing& its) {
      return its.normal && its.coordinator == awaited_;
    };
    there_ += (is_there(now) ? 1u : 0u) - (is_there(before) ? 1u : 0u);
    before = now;
  }

  void reach(lab::World& world, NodeId coordinator, std::uint32_t nodes) {
    awaited_ = coordinator;
    there_ = 0;
    for (const Standing& its : standings_)
      if (its.normal && its.coordinator == awaited_) ++there_;
    const bool reached =
        world.run_until([&] { return there_ == nodes; }, 4 * notices_after + 4 * check_period);
    if (!reached || !world.is_normal())
      throw std::logic_error("an election of " + std::to_string(nodes_) +
                             " nodes did not end in the lab");
  }

  [[nodiscard]] Cost cost(Duration now) const {
    const Duration took = now - noticed_.value();
    Cost cost;
    cost.messages = messages_;
    cost.checks = static_cast<std::uint64_t>(took / check_period);
    cost.timeouts = static_cast<std::uint64_t>(took % check_period / T);
    cost.half_trips = static_cast<std::uint64_t>(took % T / half_trip);
    return cost;
  }

  const Kind kind_;
  const Case which_;
  const std::uint32_t nodes_;
  const NodeId next_;  ///< the highest node that stays up
  std::vector<Standing> standings_;
  NodeId awaited_;
  std::uint32_t there_ = 0;
  bool counting_ = false;
  std::optional<Duration> noticed_;
  std::uint64_t messages_ = 0;
};

}  // namespace

Cost measure(Kind kind, Case which, std::uint32_t nodes, std::uint32_t down) {
  return Election(kind, which, nodes, down).run();
}

// --- Closed forms. m = n - k nodes stay up. Each answer counts as a message.

namespace {

// Time: T for the question to the coordinator, k T for phase A (one question after another), and
// (m-1) RTT for each of Halt, NewCoordinator and Ready, one by one.
Cost of_paper(Case which, std::uint64_t m, std::uint64_t k) {
  const std::uint64_t rest = k + 6 * (m - 1);
  return {(which == Case::best ? 1 : m + 2 * (m - 1)) + rest, 0, 1 + k, 2 * 3 * (m - 1)};
}

// The coordinator that has just not answered is not asked again. The nearest higher node is asked
// first, then the other higher nodes at the same time. NewCoordinator goes to all members at the
// same time, and so does Ready.
Cost of_shipped(Case which, std::uint64_t m, std::uint64_t k) {
  const std::uint64_t rest = (k - 1) + 6 * (m - 1);
  const std::uint64_t trips = m == 1 ? 0 : (m - 1) + 2;
  return {(which == Case::best ? 1 : m + 2 * (m - 1)) + rest, 0,
          1 + std::min<std::uint64_t>(k - 1, 2), 2 * trips};
}

// Election to all higher nodes, an Answer from each that is up, and Coordinator to all lower nodes.
Cost of_textbook(Case which, std::uint64_t m, std::uint64_t k) {
  const std::uint64_t told = m == 1 ? 0 : 1;
  if (which == Case::best) return {k + (m - 1), 0, 2, told};
  const std::uint64_t elections = k * m + m * (m - 1) / 2;
  return {elections + m * (m - 1) / 2 + (m - 1), 0, 2, 2 * told};
}

// m nodes ask the coordinator, and each of them becomes a group of its own. Then one node (best
// case) or each node sends AreYouCoordinator to all. Then come Invitation, Accept and Ready. One
// Check passes, which waits T for the nodes that are down.
Cost of_invitation(Case which, std::uint64_t m, std::uint64_t k) {
  if (m == 1) return {1, 0, 1, 0};  // no other node has to be found
  const std::uint64_t checking = which == Case::best ? 1 : m;
  return {m + checking * (2 * (m - 1) + k) + 6 * (m - 1), 1, 2, 2 * 2};
}

}  // namespace

Cost expected(Kind kind, Case which, std::uint32_t nodes, std::uint32_t down) {
  const std::uint64_t m = nodes - down;
  switch (kind) {
    case Kind::paper:
      return of_paper(which, m, down);
    case Kind::shipped:
      return of_shipped(which, m, down);
    case Kind::textbook:
      return of_textbook(which, m, down);
    case Kind::invitation:
      break;
  }
  return of_invitation(which, m, down);
}

std::string time_text(const Cost& cost) {
  std::string text;
  const auto add = [&](std::uint64_t count, const std::string& digits, const char* unit) {
    if (count == 0) return;
    text += (text.empty() ? "" : " + ") + (digits == "1" ? "" : digits + ' ') + unit;
  };
  add(cost.checks, std::to_string(cost.checks), "C");
  add(cost.timeouts, std::to_string(cost.timeouts), "T");
  const std::string trips =
      std::to_string(cost.half_trips / 2) + (cost.half_trips % 2 == 1 ? ".5" : "");
  add(cost.half_trips, trips, "RTT");
  return text;
}

}  // namespace muster::apps::election
