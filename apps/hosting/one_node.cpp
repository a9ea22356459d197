#include "apps/hosting/one_node.hpp"

#include "apps/base/text.hpp"
#include "apps/muster/config/config.hpp"

#include <muster/detail/values/kinds.hpp>
#include <muster/journal/halted_in_turn.hpp>
#include <muster/net/admin.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <CLI/CLI.hpp>
#include <boost/json/parse.hpp>

#include <algorithm>
#include <iomanip>

namespace muster::apps {

Expected<std::filesystem::path> OneNode::directory() const {
  if (!dir.empty()) return std::filesystem::path(dir);
  const auto loaded = load_config(config);
  if (!loaded) return loaded.error();
  return loaded->data;
}

void add_options(CLI::App& command, OneNode& node, const std::string& json) {
  auto* config = command.add_option("--config", node.config, "The node's configuration");
  auto* dir =
      command.add_option("--dir", node.dir, "The node's data directory, which contains admin.sock");
  config->excludes(dir);
  command.add_flag("--json", node.json, json);
}

void demand(const OneNode& node) {
  if (node.config.empty() && node.dir.empty())
    throw CLI::RequiredError("--config FILE or --dir DIR");
}

Expected<net::NodeStatus> parse_status(const std::string& line) {
  boost::json::error_code error;
  const auto value = boost::json::parse(line, error);
  const auto* const object = error ? nullptr : value.if_object();
  if (object && object->contains("node") && object->contains("status")) {
    if (auto status = read_json_of_any_version<net::NodeStatus>(value)) return status;
  }
  return Failure{ExitCode::unreachable,
                 "the answer is not a status that this version of muster knows: " + line};
}

void print_header(std::ostream& out) {
  out << "node  status          coordinator  group       members                  life  does\n";
}

std::string held_in_words(const net::NodeStatus& status) {
  std::string text;
  for (const auto& [node, left] : status.held)
    text += "; node " + std::to_string(node.value) + " is kept out for " + format_ms(left) +
            " ms more (calm)";
  return text;
}

namespace {

// The application's own state, in the form "; primary (2 of 3 hold each commit)".
std::string shown_in_words(const Shown& shown, const std::string& broken) {
  std::string text;
  for (const auto& [role, has] : shown.roles)
    if (has) text += (text.empty() ? "; " : ", ") + role;
  if (!shown.text.empty())
    text += (text.empty() ? "; " : " (") + shown.text + (text.empty() ? "" : ")");
  return broken.empty() ? text : text + "; BROKEN: " + broken;
}

}  // namespace

void print_status(std::ostream& out, const net::NodeStatus& status) {
  const auto number = [](std::optional<NodeId> node) {
    return node ? std::to_string(node->value) : std::string("-");
  };
  // A cell that is too long for its column still ends with a blank.
  out << std::left << std::setw(6) << status.node.value << std::setw(16)
      << enumerator_name(status.status) << std::setw(13) << number(status.coordinator)
      << std::setw(12) << (status.group ? to_text(*status.group) : "-") + " " << std::setw(25)
      << (status.up ? format_nodes(*status.up) : "-") + " " << std::setw(6)
      << std::to_string(status.incarnation.value) + " ";
  if (status.out)
    out << enumerator_name(*status.out) << '\n';
  else
    out << enumerator_name(status.procedure) << ", application "
        << enumerator_name(status.application) << (status.progress.empty() ? "" : ": ")
        << status.progress << shown_in_words(status.shown, status.broken) << held_in_words(status)
        << '\n';
}

namespace {

// Whether a difference concerns this node's certificate. Most other differences name a key of the
// configuration.
bool is_of_certificate(const std::string& what) {
  return what.starts_with("it says: ");
}

// Whether the other node differs because it has seen a later life of this node.
bool is_of_lives(const std::string& what) {
  return what.starts_with("the lives of this node");
}

std::string differences(const net::NodeStatus& status) {
  std::string text;
  for (const auto& [node, what] : status.differing)
    text += (text.empty() ? ": node " : "; node ") + std::to_string(node.value) +
            (is_of_certificate(what) ? ": " : " in ") + what;
  return text;
}

// Advice to the owner of a node that is not Normal.
std::string cure_of(const net::NodeStatus& status, const std::string& otherwise) {
  if (status.out == net::Out::drained) return "muster drain --undo brings it back";
  if (status.out == net::Out::stood_back) return "its log says why they failed";
  if (status.out == net::Out::unproven) return "give it a new one, and it comes back";
  if (!status.out && status.procedure == Wait::Outvoted) return cure_of_differences(status);
  return otherwise;
}

struct Refusal {
  std::string refused;
};
MUSTER_DESCRIBE(Refusal, refused);

}  // namespace

Expected<std::string> tell_node(const std::string& socket, const std::string& word) {
  const auto answer = net::ask_admin(socket, admin_patience, word);
  if (!answer) return answer;
  boost::json::error_code error;
  const auto refusal = read_json<Refusal>(boost::json::parse(*answer, error));
  if (error || !refusal) return answer;
  return Failure{ExitCode::temporary, "the node at " + socket + " refuses: " + refusal->refused};
}

std::string heard_in_words(const net::NodeStatus& status) {
  if (!status.coordinator_heard_ns) return {};
  return "its coordinator was heard " + format_ms(*status.coordinator_heard_ns) + " ms ago";
}

std::string certificate_in_words(const net::NodeStatus& status) {
  if (!status.certificate_ns) return {};
  const auto days = std::chrono::floor<std::chrono::days>(*status.certificate_ns).count();
  if (*status.certificate_ns <= Duration::zero()) return "its certificate has expired: renew it";
  return "its certificate is valid for " +
         (days > 0 ? std::to_string(days) + " days" : std::string("less than a day: renew it"));
}

std::optional<Failure> not_normal(const net::NodeStatus& status, const std::string& otherwise) {
  if (!status.halted_in_turn_by.empty())
    return Failure{ExitCode::disagreement,
                   halted_in_turn_words(status.node, status.halted_in_turn_by)};
  if (status.status != Status::Normal)
    return Failure{ExitCode::not_normal, in_words(status) + "; " + cure_of(status, otherwise)};
  const auto& heard = status.coordinator_heard_ns;
  if (!heard || !status.coordinator_bound_ns || *heard <= *status.coordinator_bound_ns)
    return std::nullopt;
  return Failure{ExitCode::not_normal,
                 in_words(status) + " as far as it knows, but " + heard_in_words(status) +
                     "; after more than " + format_ms(*status.coordinator_bound_ns) +
                     " ms this node is probably paused or broken; " + otherwise};
}

std::string cure_of_differences(const net::NodeStatus& status) {
  const auto any = [&](bool (*is_of)(const std::string& what)) {
    return std::any_of(status.differing.begin(), status.differing.end(),
                       [&](const auto& one) { return is_of(one.second); });
  };
  if (any(is_of_certificate))
    return "renew its certificate (muster cert renew), or have it issued by an authority that "
           "they trust";
  if (any(is_of_lives))
    return "restore the newest copy of its store, or start it once with --initialise";
  return "make their configurations alike";
}

std::string in_words(const net::NodeStatus& status) {
  std::string text = "node " + std::to_string(status.node.value);
  if (status.out == net::Out::drained) return text + " is drained";
  if (status.out == net::Out::stepped_down) return text + " has stepped down";
  if (status.out == net::Out::stood_back)
    return text + " takes no part for a while, because its hooks failed repeatedly";
  if (status.out == net::Out::unsteady)
    return text + " takes no part for a while, because its groups did not last";
  if (status.out == net::Out::held_down)
    return text + " waits before it starts again, because its last lives were short";
  if (status.out == net::Out::unproven)
    return text + " takes no part, because its certificate has expired or was revoked";
  if (status.procedure == Wait::Outvoted)
    return text + " takes no part, because many nodes differ from it" + differences(status);
  if (status.procedure == Wait::Rejoining)
    return text + " waits until the nodes that differ have stopped" + differences(status);
  if (status.status != Status::Normal)
    return text + " is in " + std::string(enumerator_name(status.status)) +
           (status.because.empty() ? "" : ", because " + status.because);
  text += " is Normal";
  if (status.group && status.coordinator)
    text += " in group " + to_text(*status.group) + " under node " +
            std::to_string(status.coordinator->value);
  return text;
}

}  // namespace muster::apps
