#include "apps/base/failed.hpp"
#include "apps/base/text.hpp"
#include "apps/hosting/one_node.hpp"
#include "apps/muster/commands/commands.hpp"

#include <muster/detail/values/kinds.hpp>
#include <muster/journal/history.hpp>
#include <muster/net/admin.hpp>
#include <muster/storage/inspect.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <CLI/CLI.hpp>
#include <boost/json/parse.hpp>

#include <iomanip>
#include <iostream>
#include <iterator>
#include <optional>
#include <sstream>

/// `muster history` and `muster why`: the reorganizations that a node took part in.

namespace muster::apps {
namespace {

struct Past {
  std::vector<history::Entry> entries;  ///< the oldest first; the last one is perhaps not over
  std::vector<std::string> lines;       ///< the same entries as JSON
};

void take(Past& past, const std::string& line) {
  boost::json::error_code error;
  auto entry = read_json<history::Entry>(boost::json::parse(line, error));
  if (error || !entry) return;
  past.entries.push_back(*std::move(entry));
  past.lines.push_back(line);
}

Past read_past(const std::string& answer) {
  Past past;
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) take(past, line);
  return past;
}

/// Asks a running node for its last `limit` reorganizations, and the present one. The node sends a
/// few at a time. A request can contain a number, to get only the entries before that one.
Expected<Past> past_of_node(const std::filesystem::path& socket, std::size_t limit) {
  const std::string word = "history " + std::to_string(limit);
  const auto answer = net::ask_admin(socket, admin_patience, word);
  if (!answer) return answer.error();
  Past past = read_past(*answer);
  while (!past.entries.empty() && past.entries.size() < limit && past.entries.front().number > 1) {
    const auto older = net::ask_admin(socket, admin_patience,
                                      word + ' ' + std::to_string(past.entries.front().number));
    if (!older) return older.error();
    Past before = read_past(*older);
    if (before.entries.empty()) break;
    std::move(past.entries.begin(), past.entries.end(), std::back_inserter(before.entries));
    std::move(past.lines.begin(), past.lines.end(), std::back_inserter(before.lines));
    past = std::move(before);
  }
  return past;
}

/// The answer of the node. If the node does not run, reads its safe storage.
Expected<Past> past_of(const OneNode& node, std::size_t limit) {
  const auto directory = node.directory();
  if (!directory) return directory.error();
  auto answer = past_of_node(*directory / "admin.sock", limit);
  if (answer) return answer;
  Past past;
  if (answer.error().code != ExitCode::unreachable) return answer.error();
  const auto found = storage::inspect(*directory, [&](std::string_view key, const Bytes& value) {
    if (key.starts_with(history::cells)) take(past, value.data);
  });
  if (!found) return answer.error();
  std::cerr << "muster: the node does not run; this is from its safe storage\n";
  return past;
}

std::string phases_in_words(const history::Phases& phases) {
  std::string text;
  for_each_field(phases, [&](const char* name, Duration time) {
    if (time < std::chrono::microseconds(50)) return;
    if (!text.empty()) text += ", ";
    text += std::string(name) + ' ' + format_ms(time);
  });
  return text;
}

std::string halts_in_words(const std::vector<NodeId>& halts) {
  std::string text;
  for (NodeId by : halts) text += (text.empty() ? "" : ", ") + std::to_string(by.value);
  return text;
}

std::string coordinator_of(const history::Entry& entry) {
  return entry.coordinator ? std::to_string(entry.coordinator->value) : "-";
}

void print_line(std::ostream& out, const history::Entry& entry) {
  out << std::right << std::setw(5) << (entry.group ? std::to_string(entry.number) : "now") << "  "
      << std::left << std::setw(26) << (entry.at.empty() ? "-" : entry.at) << std::setw(6)
      << entry.incarnation.value << std::setw(12) << (entry.group ? to_text(*entry.group) : "-")
      << std::setw(13) << coordinator_of(entry) << std::setw(10) << format_ms(entry.took)
      << entry.evidence;
  if (!entry.halted_by.empty() && entry.trigger != Trigger::halted)
    out << "; then halted by " << halts_in_words(entry.halted_by);
  out << '\n';
}

int history_command(const OneNode& node, std::size_t limit) {
  const auto past = past_of(node, limit);
  if (!past) return failed(past.error());
  const std::size_t size = past->entries.size();
  if (!node.json)
    std::cout << "   no  when                      life  group       coordinator  took ms   "
                 "because\n";
  for (std::size_t i = size - std::min(limit, size); i < size; ++i) {
    if (node.json)
      std::cout << past->lines[i] << '\n';
    else
      print_line(std::cout, past->entries[i]);
  }
  return 0;
}

/// The node's present status; none if it does not run.
std::optional<net::NodeStatus> status_of(const OneNode& node) {
  const auto directory = node.directory();
  if (!directory) return std::nullopt;
  const auto line = net::ask_admin(*directory / "admin.sock", admin_patience);
  const auto status = line ? parse_status(*line) : Expected<net::NodeStatus>(line.error());
  return status ? std::optional(*status) : std::nullopt;
}

/// Adds two facts to a JSON line: when the node last heard its coordinator, and which nodes it
/// keeps out.
std::string with_heard(std::string line, const std::optional<net::NodeStatus>& now) {
  line.pop_back();
  line += ",\"coordinator_heard_ns\":";
  write_json(line, now ? now->coordinator_heard_ns : std::nullopt);
  line += ",\"held\":";
  write_json(line, now ? now->held : std::map<NodeId, Duration>());
  return line + '}';
}

std::string now_in_words(const net::NodeStatus& status) {
  const std::string heard = heard_in_words(status);
  const std::string held = held_in_words(status);
  return heard.empty() && !held.empty() ? held.substr(2) : heard + held;
}

void print_why(std::ostream& out, const history::Entry& entry, const std::string& now) {
  out << "node " << entry.node.value;
  if (entry.group)
    out << " is in group " << to_text(*entry.group) << " under node " << coordinator_of(entry)
        << '\n';
  else
    out << " reorganizes\n";
  const auto row = [&](const char* name, const std::string& text) {
    if (!text.empty()) out << "  " << std::left << std::setw(11) << name << text << '\n';
  };
  row("since",
      entry.at.empty() ? "" : entry.at + ", in life " + std::to_string(entry.incarnation.value));
  row("members", entry.members ? format_nodes(*entry.members) : "");
  row("before", entry.before ? "group " + to_text(*entry.before) : "");
  row("because", entry.evidence + " (" + std::string(enumerator_name(entry.trigger)) + ")");
  row("then", entry.then.value_or(""));
  row("halted by", halts_in_words(entry.halted_by));
  row("elections", entry.elections == 0 ? "none of its own" : std::to_string(entry.elections));
  row("took", format_ms(entry.took) + " ms: " + phases_in_words(entry.phases));
  row("now", entry.group ? now : std::string());
}

int why_command(const OneNode& node) {
  const auto past = past_of(node, 1);
  if (!past) return failed(past.error());
  if (past->entries.empty())
    return failed({ExitCode::not_normal, "the node was never in a group; see muster status"});
  const history::Entry& last = past->entries.back();
  const auto now = status_of(node);
  if (node.json)
    std::cout << with_heard(past->lines.back(), now) << '\n';
  else
    print_why(std::cout, last, now ? now_in_words(*now) : "");
  if (last.group) return 0;
  if (now && now->procedure == Wait::Outvoted)
    return failed({ExitCode::not_normal, in_words(*now) + "; " + cure_of_differences(*now)});
  return failed(
      {ExitCode::not_normal,
       "node " + std::to_string(last.node.value) +
           " is not Normal: its reorganization has not ended yet; wait for it with muster wait"});
}

constexpr const char* codes =
    "If the node does not run, this reads its safe storage, which keeps the last ten thousand "
    "reorganizations.\nExit codes: 0 printed; 5 there is no running node and no safe storage; 7 "
    "the node did not answer in time;\n64 the configuration is invalid";

}  // namespace

void add_history_command(CLI::App& app, int& exit_code) {
  const auto node = std::make_shared<OneNode>();
  const auto limit = std::make_shared<std::size_t>(20);
  CLI::App* command =
      app.add_subcommand("history", "List the reorganizations that one node took part in");
  command->footer(std::string(codes) + ".");
  add_options(*command, *node, "Print one JSON object a line, with the time of each phase");
  command->add_option("--limit", *limit, "How many to list; the newest comes last")
      ->capture_default_str();
  command->callback([node, limit, &exit_code] {
    demand(*node);
    exit_code = history_command(*node, *limit);
  });
}

void add_why_command(CLI::App& app, int& exit_code) {
  const auto node = std::make_shared<OneNode>();
  CLI::App* command =
      app.add_subcommand("why", "Explain why one node is in its group, by its last reorganization");
  command->footer(std::string(codes) + "; 3 the reorganization has not ended, or there was none.");
  add_options(*command, *node, "Print that reorganization as a line of JSON");
  command->callback([node, &exit_code] {
    demand(*node);
    exit_code = why_command(*node);
  });
}

}  // namespace muster::apps
