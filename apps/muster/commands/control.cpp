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

/// What the owner of a node may want of it: `muster wait`, `step-down`, `drain` and `elect`. Each
/// waits until it has come about.

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

/// Between two attempts to reach who is not there yet.
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

/// A duration of the command line; throws the usage error.
Duration duration_of(const std::string& option, const std::string& text) {
  constexpr Duration longest = 24h * 365;
  const auto duration = parse_duration(text);
  if (!duration || *duration > longest)
    throw CLI::ValidationError(option, text + " is no time such as 500ms, 10s or 5min");
  return *duration;
}

/// One node, and for how long to wait.
struct Owner {
  OneNode node;
  std::string timeout = "30s";

  void add(CLI::App& command, const std::string& json) {
    add_options(command, node, json);
    command.add_option("--timeout,--within", timeout, "For how long to wait before giving up")
        ->capture_default_str();
  }
  [[nodiscard]] Duration patience() const { return duration_of("--timeout", timeout); }
};

Failure not_in_time(const std::optional<net::NodeStatus>& last, const std::string& socket,
                    const Owner& owner) {
  std::string seen = last ? in_words(*last) : "no node answers at " + socket;
  if (const std::string heard = last ? heard_in_words(*last) : ""; !heard.empty())
    seen += " (" + heard + ")";
  return {ExitCode::timed_out, seen + " after " + owner.timeout +
                                   ", which is not what was waited for; see muster why, or wait "
                                   "for longer with --timeout"};
}

// --- muster wait
// -----------------------------------------------------------------------------------

struct WaitOptions : Owner {
  std::string status = "Normal";
  std::uint32_t coordinator = 0;
};

/// The status of that name, whether its first letter is large or not.
std::optional<Status> status_named(std::string name) {
  if (!name.empty()) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return enumerator_named<Status>(name);
}

int wait_command(const WaitOptions& options) {
  const auto wanted = status_named(options.status);
  if (!wanted)
    throw CLI::ValidationError(
        "--status", options.status + " is none of Down, Election, Reorganization, Normal");
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

// --- An order, and what comes of it
// ----------------------------------------------------------------

/// A node as it was when it was told something, and as it is when that has come about.
struct Outcome {
  net::NodeStatus before;
  net::NodeStatus after;
};

/// Tells the node that, and watches it until `done`, which is shown each of its statuses from then
/// on.
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

/// What is printed in JSON of an order that was followed.
struct OrderLine {
  std::string did;
  NodeId node;
  Status status{};
  std::optional<net::Out> out;
  std::optional<NodeId> coordinator;  ///< of the cluster, as far as is known
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
// -------------------------------------------------------------

/// True where this is the word of a group that goes on without the life that has left: of its
/// coordinator, which knows the members, or of a member of another group than was.
bool goes_on(const net::NodeStatus& status, const net::NodeStatus& left) {
  if (not_normal(status)) return false;
  // It may have come back meanwhile.
  if (status.coordinator == left.node) return !left.group || status.group != left.group;
  if (status.up) return !status.up->contains(left.node);
  return status.group != left.group || status.coordinator == status.node;
}

/// Asks those whom a node has left behind who is their coordinator now; nothing where there are
/// none, and a failure where none is in time.
Expected<std::optional<net::NodeStatus>> successor(const std::string& socket,
                                                   const net::NodeStatus& left,
                                                   const Deadline& deadline) {
  const auto answer = net::ask_admin(socket, patience, "cluster");
  if (!answer) return answer.error();
  boost::json::error_code error;
  auto cluster = read_json<net::ClusterSeen>(boost::json::parse(*answer, error));
  if (error || !cluster)
    return Failure{ExitCode::unreachable, "the node at " + socket + " is of another version"};
  NodeSet nodes;
  for (const auto& [node, address] : cluster->addresses) nodes.insert(node);
  cluster->addresses.erase(left.node);
  const bool was_alone = left.coordinator == left.node && left.up && left.up->empty();
  do {
    for (const auto& [node, address] : cluster->addresses) {
      const Duration bound = std::clamp<Duration>(deadline.left(), 1ms, patience);
      const auto line = net::ask_observer(address, cluster->cluster, bound, {cluster->tls, nodes});
      auto status = line ? parse_status(*line) : Expected<net::NodeStatus>(line.error());
      if (status && goes_on(*status, left)) return std::optional(*std::move(status));
    }
    if (was_alone || cluster->addresses.empty()) return std::optional<net::NodeStatus>();
    std::this_thread::sleep_for(std::min(pause_between, deadline.left()));
  } while (!deadline.over());
  return Failure{ExitCode::no_coordinator,
                 name(left.node) +
                     " has left, and nobody took over: no other node is Normal in a group without "
                     "it yet; see muster members"};
}

/// Says that a node has left, and who is coordinator now.
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
    sentence += "; it was alone in its group, and nobody took over";
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
    return has_left(owner, "drain", socket, *outcome, deadline,
                    name(outcome->before.node) +
                        " is drained: it stays out until muster drain --undo, or a new process");
  }
  const auto outcome = order(owner, socket, "drain undo", [](const Outcome& now) {
    return now.after.status == Status::Normal && now.after.incarnation > now.before.incarnation;
  });
  if (!outcome) return failed(outcome.error());
  report(owner, line_of("drain --undo", outcome->after), in_words(outcome->after));
  return 0;
}

// --- muster elect
// ----------------------------------------------------------------------------------

int elect_command(const Owner& owner, std::string reason) {
  constexpr std::size_t longest = 200;
  if (reason.empty() || reason.size() > longest || reason.find('\n') != std::string::npos)
    throw CLI::ValidationError("--reason", "a reason is a line of at most 200 bytes");
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
  CLI::App* command = add_command(
      app, "wait", "Wait until one node of this machine is what is asked for",
      "Waits as well where the node is not started yet. Exit codes: 0 it is so; 7 it was not in "
      "time,\nand what it was instead is said; 5 no node was ever reached; 64 the configuration is "
      "bad.");
  options->add(*command, "The node's own line of JSON");
  command->add_option("--status", options->status, "Down, Election, Reorganization or Normal")
      ->capture_default_str();
  command->add_option("--coordinator", options->coordinator, "And under that coordinator")
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
      app, "step-down", "Let one node of this machine leave in order and come back after a while",
      "The application stops, sessions and listener close, and the others reorganize without it; "
      "the process stays.\nWaits until it has left and the others are Normal without it, and says "
      "under whom. Exit codes: 0 so it is,\nor it was alone; 4 it has left, and nobody took over "
      "in time; 5 no node was reached; 7 it has not left in time;\n64 the configuration is bad; 75 "
      "the node refuses, and says why.");
  owner->add(*command, "One line of JSON that says what came of it");
  command->add_option("--for", *time, "How long it stays out")->capture_default_str();
  command->callback([owner, time, &exit_code] {
    demand(owner->node);
    exit_code = step_down_command(*owner, *time);
  });
}

void add_drain_command(CLI::App& app, int& exit_code) {
  const auto owner = std::make_shared<Owner>();
  const auto undo = std::make_shared<bool>(false);
  CLI::App* command = add_command(
      app, "drain", "Let one node of this machine leave in order and stay out",
      "As step-down, until --undo, which waits until the node is Normal again. The process stays "
      "and answers\nmuster status with Down; a process that is started anew is not drained. Exit "
      "codes: as of step-down.");
  owner->add(*command, "One line of JSON that says what came of it");
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
      app, "elect", "Let one node of this machine begin an election, though nothing has failed",
      "Waits until the node is Normal in another group, and says in which: a node below its "
      "coordinator recovers, as after a pause, for that one\nto find. Exit codes: 0 it is Normal; "
      "5 no node was reached; 7 it is not Normal in time; 64 the configuration is bad;\n75 the "
      "node refuses, and says why.");
  owner->add(*command, "One line of JSON that says what came of it");
  command->add_option("--reason", *reason, "Why, for the journal and muster history")->required();
  command->callback([owner, reason, &exit_code] {
    demand(owner->node);
    exit_code = elect_command(*owner, *reason);
  });
}

}  // namespace muster::apps
