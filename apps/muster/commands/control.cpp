#include "apps/base/failed.hpp"
#include "apps/base/text.hpp"
#include "apps/hosting/one_node.hpp"
#include "apps/muster/commands/commands.hpp"

#include <muster/net/admin.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <CLI/CLI.hpp>
#include <boost/json/parse.hpp>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <iostream>
#include <thread>

/// Orders to a node: `muster wait`, `step-down`, `drain` and `elect`. Each command waits until the
/// order has been carried out.

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

/// Time between two attempts to reach a node.
constexpr Duration pause_between = 20ms;

class Deadline {
 public:
  explicit Deadline(Duration timeout) : at_(Clock::now() + timeout) {}
  [[nodiscard]] Duration left() const { return std::max<Duration>(at_ - Clock::now(), 0ns); }
  [[nodiscard]] bool over() const { return left() == Duration::zero(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point at_;
};

/// Parses a duration of the command line. Throws a usage error.
Duration duration_of(const std::string& option, const std::string& text) {
  constexpr Duration longest = 24h * 365;
  const auto duration = parse_duration(text);
  if (!duration || *duration > longest)
    throw CLI::ValidationError(option, text + ": expected a duration such as 500ms, 10s or 5min");
  return *duration;
}

/// The node, and the time to wait.
struct Owner {
  OneNode node;
  std::string timeout = "30s";

  void add(CLI::App& command, const std::string& json) {
    add_options(command, node, json);
    command.add_option("--timeout,--within", timeout, "How long to wait before giving up")
        ->capture_default_str();
  }
  [[nodiscard]] Duration patience() const { return duration_of("--timeout", timeout); }
};

Failure not_in_time(const std::optional<net::NodeStatus>& last, const std::string& socket,
                    const Owner& owner) {
  std::string seen = last ? in_words(*last) : "no node answers at " + socket;
  if (const std::string heard = last ? heard_in_words(*last) : ""; !heard.empty())
    seen += " (" + heard + ")";
  return {ExitCode::timed_out, "gave up waiting after " + owner.timeout + ": " + seen +
                                   "; see muster why, or wait longer with --timeout"};
}

// --- muster wait

struct WaitOptions : Owner {
  std::string status = "Normal";
  std::uint32_t coordinator = 0;
};

/// The status of that name. The case of the first letter does not matter.
std::optional<Status> status_named(std::string name) {
  if (!name.empty()) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return enumerator_named<Status>(name);
}

int wait_command(const WaitOptions& options) {
  const auto wanted = status_named(options.status);
  if (!wanted)
    throw CLI::ValidationError(
        "--status", options.status + ": expected Down, Election, Reorganization or Normal");
  const auto directory = options.node.directory();
  if (!directory) return failed(directory.error());
  const std::string socket = *directory / "admin.sock";
  const Deadline deadline(options.patience());
  std::optional<net::NodeStatus> last;
  std::string line_of_last;
  Failure why;
  do {
    std::optional<Failure> unreadable;
    const auto watched = net::watch_admin(socket, deadline.left(), [&](const std::string& line) {
      auto status = parse_status(line);
      if (!status) return unreadable = status.error(), true;
      last = *std::move(status);
      line_of_last = line;
      return last->status == *wanted && (*wanted != Status::Normal || !not_normal(*last)) &&
             (options.coordinator == 0 || last->coordinator == NodeId{options.coordinator});
    });
    if (unreadable) return failed(*unreadable);
    if (watched) {
      const std::string heard = heard_in_words(*last);
      const std::string words = in_words(*last) + (heard.empty() ? "" : "; " + heard);
      std::cout << (options.node.json ? line_of_last : words) << '\n';
      return 0;
    }
    why = watched.error();
    if (why.code == ExitCode::bad_configuration) return failed(why);
    std::this_thread::sleep_for(std::min(pause_between, deadline.left()));
  } while (!deadline.over());
  if (!last && why.code == ExitCode::unreachable) return failed(why);
  return failed(not_in_time(last, socket, options));
}

// --- An order and its result

/// The node's status before the order, and its latest one.
struct Outcome {
  net::NodeStatus before;
  net::NodeStatus after;
};

/// Sends the order `word` to the node. Then watches the node's statuses until `done` returns true.
Expected<Outcome> order(const Owner& owner, const std::string& socket, const std::string& word,
                        const std::function<bool(const Outcome&)>& done) {
  std::optional<Outcome> seen;
  std::optional<Failure> why;
  const auto watched = net::watch_admin(socket, owner.patience(), [&](const std::string& line) {
    auto status = parse_status(line);
    if (!status) return why = status.error(), true;
    if (seen) {
      seen->after = *std::move(status);
      return done(*seen);
    }
    seen = Outcome{*status, *status};
    if (const auto told = tell_node(socket, word); !told) why = told.error();
    return why.has_value();
  });
  if (why) return *why;
  if (watched) return *seen;
  if (watched.error().code != ExitCode::timed_out) return watched.error();
  return not_in_time(seen ? std::optional(seen->after) : std::nullopt, socket, owner);
}

std::string name(NodeId node) {
  return "node " + std::to_string(node.value);
}

/// The JSON line of an order that was carried out.
struct OrderLine {
  std::string did;
  NodeId node;
  Status status{};
  std::optional<net::Out> out;
  std::optional<NodeId> coordinator;  ///< of the cluster, if it is known
  std::optional<GroupNumber> group;
};
MUSTER_DESCRIBE(OrderLine, did, node, status, out, coordinator, group);

void report(const Owner& owner, const OrderLine& line, const std::string& sentence) {
  std::string text = sentence;
  if (owner.node.json) {
    text.clear();
    write_json(text, line);
  }
  std::cout << text << '\n';
}

OrderLine line_of(const char* did, const net::NodeStatus& status) {
  return {did, status.node, status.status, status.out, status.coordinator, status.group};
}

// --- muster step-down and muster drain

/// Whether this status shows that the group goes on without the life that has left. A coordinator's
/// status lists the members. A member's status shows it by a new group.
bool goes_on(const net::NodeStatus& status, const net::NodeStatus& left) {
  if (not_normal(status)) return false;
  // The node that left can be back already, as coordinator.
  if (status.coordinator == left.node) return !left.group || status.group != left.group;
  if (status.up) return !status.up->contains(left.node);
  return status.group != left.group || status.coordinator == status.node;
}

/// Asks the other nodes for their coordinator. Returns none if the node was alone in its group.
/// Fails if no other node is in a group without it in time.
Expected<std::optional<net::NodeStatus>> successor(const std::string& socket,
                                                   const net::NodeStatus& left,
                                                   const Deadline& deadline) {
  const auto answer = net::ask_admin(socket, admin_patience, "cluster");
  if (!answer) return answer.error();
  boost::json::error_code error;
  auto cluster = read_json<net::ClusterSeen>(boost::json::parse(*answer, error));
  if (error || !cluster)
    return Failure{ExitCode::unreachable, "the node at " + socket +
                                              " runs another version of Muster, whose answer this "
                                              "command cannot read: use the node's version"};
  NodeSet nodes;
  for (const auto& [node, address] : cluster->addresses) nodes.insert(node);
  cluster->addresses.erase(left.node);
  const bool was_alone = left.coordinator == left.node && left.up && left.up->empty();
  do {
    for (const auto& [node, address] : cluster->addresses) {
      const Duration bound = std::clamp<Duration>(deadline.left(), 1ms, admin_patience);
      const auto line = net::ask_observer(address, cluster->cluster, bound, {cluster->tls, nodes});
      auto status = line ? parse_status(*line) : Expected<net::NodeStatus>(line.error());
      if (status && goes_on(*status, left)) return std::optional(*std::move(status));
    }
    if (was_alone || cluster->addresses.empty()) return std::optional<net::NodeStatus>();
    std::this_thread::sleep_for(std::min(pause_between, deadline.left()));
  } while (!deadline.over());
  return Failure{ExitCode::no_coordinator,
                 name(left.node) +
                     " has left, but no node has taken over: no other node is Normal in a group "
                     "without it yet; see muster members"};
}

/// Reports that a node has left, and the new coordinator.
int has_left(const Owner& owner, const char* did, const std::string& socket, const Outcome& outcome,
             const Deadline& deadline, std::string sentence) {
  OrderLine line = line_of(did, outcome.after);
  const auto next = successor(socket, outcome.before, deadline);
  if (!next) return failed(next.error());
  if (*next) {
    const net::NodeStatus& now = **next;
    line.coordinator = now.coordinator;
    line.group = now.group;
    const bool still = now.coordinator == outcome.before.coordinator;
    sentence += "; " + name(*now.coordinator) +
                (still ? " is still coordinator" : " is coordinator now") + ", of group " +
                to_text(*now.group);
  } else {
    sentence += "; it was alone in its group, so no node took over";
  }
  report(owner, line, sentence);
  return 0;
}

bool is_out(const Outcome& outcome) {
  return outcome.after.out.has_value() || outcome.after.incarnation > outcome.before.incarnation;
}

int step_down_command(const Owner& owner, const std::string& time) {
  const Duration out_for = duration_of("--for", time);
  const Deadline deadline(owner.patience());
  const auto directory = owner.node.directory();
  if (!directory) return failed(directory.error());
  const std::string socket = *directory / "admin.sock";
  const auto outcome = order(owner, socket, "step-down " + std::to_string(out_for.count()), is_out);
  if (!outcome) return failed(outcome.error());
  return has_left(owner, "step-down", socket, *outcome, deadline,
                  name(outcome->before.node) + " has stepped down for " + format_duration(out_for));
}

int drain_command(const Owner& owner, bool undo) {
  const Deadline deadline(owner.patience());
  const auto directory = owner.node.directory();
  if (!directory) return failed(directory.error());
  const std::string socket = *directory / "admin.sock";
  if (!undo) {
    const auto outcome = order(owner, socket, "drain", [](const Outcome& now) {
      return now.after.out == net::Out::drained;
    });
    if (!outcome) return failed(outcome.error());
    return has_left(
        owner, "drain", socket, *outcome, deadline,
        name(outcome->before.node) +
            " is drained: it stays out until muster drain --undo or a restart of its process");
  }
  const auto outcome = order(owner, socket, "drain undo", [](const Outcome& now) {
    return now.after.status == Status::Normal && now.after.incarnation > now.before.incarnation;
  });
  if (!outcome) return failed(outcome.error());
  report(owner, line_of("drain --undo", outcome->after), in_words(outcome->after));
  return 0;
}

// --- muster elect

int elect_command(const Owner& owner, std::string reason) {
  constexpr std::size_t longest = 200;
  if (reason.empty() || reason.size() > longest || reason.find('\n') != std::string::npos)
    throw CLI::ValidationError("--reason", "expected one line of 1 to 200 bytes");
  const auto directory = owner.node.directory();
  if (!directory) return failed(directory.error());
  const std::string socket = *directory / "admin.sock";
  const auto outcome = order(owner, socket, "elect " + reason, [](const Outcome& now) {
    return now.after.status == Status::Normal && now.after.group != now.before.group;
  });
  if (!outcome) return failed(outcome.error());
  std::string sentence = in_words(outcome->after);
  if (outcome->after.up) {
    NodeSet members = *outcome->after.up;
    members.insert(outcome->after.node);
    sentence += ", with members " + format_nodes(members);
  }
  report(owner, line_of("elect", outcome->after), sentence);
  return 0;
}

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description,
                      const std::string& more) {
  CLI::App* command = app.add_subcommand(name, description);
  command->footer(more);
  return command;
}

}  // namespace

void add_wait_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<WaitOptions>();
  CLI::App* command =
      add_command(app, "wait", "Wait until one node of this machine has a given status",
                  "Also waits for a node that has not started yet. Exit codes: 0 the node has the "
                  "status; 7 not in time\n(prints its status instead); 5 no node was ever reached; "
                  "64 the configuration is invalid.");
  options->add(*command, "Print the node's status as a line of JSON");
  command->add_option("--status", options->status, "Down, Election, Reorganization or Normal")
      ->capture_default_str();
  command
      ->add_option("--coordinator", options->coordinator,
                   "Wait until it is under this coordinator too")
      ->check(CLI::PositiveNumber);
  command->callback([options, &exit_code] {
    demand(options->node);
    exit_code = wait_command(*options);
  });
}

void add_step_down_command(CLI::App& app, int& exit_code) {
  const auto owner = std::make_shared<Owner>();
  const auto time = std::make_shared<std::string>("10s");
  CLI::App* command = add_command(
      app, "step-down",
      "Make one node of this machine leave its group in order and come back later",
      "The application stops, the node closes its sessions and its listener, and the other nodes "
      "reorganize. The\nprocess stays. The command waits until the others are Normal without the "
      "node, and prints their coordinator.\nExit codes: 0 done, or the node was alone; 4 it has "
      "left, but no node took over in time; 5 no node was reached;\n7 it has not left in time; 64 "
      "the configuration is invalid; 75 the node refuses, and says why.");
  owner->add(*command, "Print the result as a line of JSON");
  command->add_option("--for", *time, "How long the node stays out")->capture_default_str();
  command->callback([owner, time, &exit_code] {
    demand(owner->node);
    exit_code = step_down_command(*owner, *time);
  });
}

void add_drain_command(CLI::App& app, int& exit_code) {
  const auto owner = std::make_shared<Owner>();
  const auto undo = std::make_shared<bool>(false);
  CLI::App* command = add_command(
      app, "drain", "Make one node of this machine leave its group in order and stay out",
      "Like step-down, but the node stays out until --undo, which waits until it is Normal again. "
      "The process stays,\nand muster status shows the node as Down. A restarted process is not "
      "drained. Exit codes: those of step-down.");
  owner->add(*command, "Print the result as a line of JSON");
  command->add_flag("--undo", *undo, "Bring a drained node back");
  command->callback([owner, undo, &exit_code] {
    demand(owner->node);
    exit_code = drain_command(*owner, *undo);
  });
}

void add_elect_command(CLI::App& app, int& exit_code) {
  const auto owner = std::make_shared<Owner>();
  const auto reason = std::make_shared<std::string>();
  CLI::App* command = add_command(
      app, "elect", "Make one node of this machine begin an election although no node has failed",
      "Waits until the node is Normal in another group, and prints that group. A node that is not "
      "the coordinator\nrecovers, as after a pause, and its coordinator notices that. Exit codes: "
      "0 it is Normal; 5 no node was reached;\n7 it is not Normal in time; 64 the configuration is "
      "invalid; 75 the node refuses, and says why.");
  owner->add(*command, "Print the result as a line of JSON");
  command->add_option("--reason", *reason, "The reason, for the journal and muster history")
      ->required();
  command->callback([owner, reason, &exit_code] {
    demand(owner->node);
    exit_code = elect_command(*owner, *reason);
  });
}

}  // namespace muster::apps
