#include "apps/postgres/decide/status.hpp"

#include <muster/values/text.hpp>

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace muster::postgres {
namespace {

/// Formats a size, such as "812 B" or "1.2 GB". Returns "-" if the size is not known.
std::string about(const std::optional<std::uint64_t>& bytes) {
  if (!bytes) return "-";
  if (*bytes < 1000) return std::to_string(*bytes) + " B";
  auto size = static_cast<double>(*bytes);
  const char* unit = " B";
  for (const char* next : {" kB", " MB", " GB", " TB"}) {
    if (size < 999.95) break;
    size /= 1000;
    unit = next;
  }
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << size << unit;
  return out.str();
}

/// Formats a count, such as "1 other node follows" or "2 other nodes follow".
std::string others(std::size_t count, const std::string& verb) {
  return std::to_string(count) +
         (count == 1 ? " other node " + verb + "s" : " other nodes " + verb);
}

class Summary {
 public:
  explicit Summary(const Heard& heard) : heard_(heard) {}

  ClusterStatus make() {
    for (const auto& [node, said] : heard_.nodes) add(node, said);
    status_.primary = primary_of(heard_.nodes);
    if (status_.primary)
      primary(heard_.nodes.at(*status_.primary));
    else
      nobody();
    return std::move(status_);
  }

 private:
  void add(NodeId node, const NodeSaid& said) {
    StatusOfNode line;
    line.node = node;
    line.role = "none";
    line.does = said.doing;
    if (said.replica) {
      line.role = "replica";
      line.does = follows;
    }
    if (said.primary) {
      line.role = "primary";
      line.does = "takes writes";
    }
    if (!said.normal) line.does = said.is;
    const bool witness = heard_.copies.witnesses.contains(node);
    if (witness) line.role = "witness";
    if (!said.unreachable.empty()) {
      line.role = "unreachable";
      line.does = (witness ? "the witness: " : "") + said.unreachable;
    }
    if (heard_.primary && !said.primary) fill_in(line, *heard_.primary);
    if (heard_.primary && line.does == follows && !streams(node))
      line.does = "should follow, but does not stream from the primary";
    status_.nodes.push_back(std::move(line));
  }

  static void fill_in(StatusOfNode& line, const PrimarySaid& primary) {
    const std::string name = "n" + std::to_string(line.node.value);
    for (const Standby& standby : primary.standbys) {
      if (standby.name != name && standby.name != "mend_" + name) continue;
      line.behind = standby.behind;
      line.to_replay = standby.to_replay;
    }
    for (const Cloning& clone : primary.clones) {
      if (clone.node != line.node) continue;
      line.cloned = clone.done;
      line.clone_of = clone.of;
    }
  }

  void primary(const NodeSaid& said) {
    status_.group = said.group;
    status_.writable = true;
    status_.why = said.doing;
    const Copies& list =
        heard_.primary && heard_.primary->copies ? *heard_.primary->copies : heard_.copies;
    status_.generation = list.generation;
    const unsigned copies = list.of_commit;
    const std::string held =
        std::to_string(copies) + " of " + std::to_string(list.nodes.size()) + " nodes" +
        (list.generation > 1 ? " (generation " + std::to_string(list.generation) + ")" : "") +
        " hold each commit before it is acknowledged";
    if (!heard_.primary) {
      status_.counts_on = held;
      status_.why =
          "the primary's PostgreSQL does not say which nodes follow: " + heard_.primary_silent;
      return;
    }
    status_.since = heard_.primary->since;
    status_.timeline = heard_.primary->term.timeline;
    status_.alone = heard_.primary->alone;
    for (const Impostor& impostor : heard_.primary->impostors)
      status_.warnings.push_back(postgres::in_words(impostor));
    if (heard_.primary->foreign_names)
      status_.warnings.push_back(foreign_names_in_words(*heard_.primary->foreign_names));
    if (status_.alone) {
      status_.counts_on =
          named(*status_.primary) +
          " alone has each commit when it is acknowledged, until another node has caught up";
      return;
    }
    for (const NodeId node : list.nodes)
      if (node != *status_.primary && !streams(node)) status_.not_following.insert(node);
    const auto follow = static_cast<std::size_t>(std::count_if(
        list.nodes.begin(), list.nodes.end(), [this](NodeId node) { return streams(node); }));
    const std::string following = others(follow, "follow") + ", and " + std::to_string(copies - 1) +
                                  (copies == 2 ? " is needed" : " are needed");
    status_.writable = follow + 1 >= copies;
    if (!status_.warnings.empty())
      status_.counts_on = "commits may be acknowledged that no other node holds: see the warning";
    else if (status_.writable)
      status_.counts_on = held + "; " + following;
    else
      status_.counts_on = "commits wait until more nodes follow: " + following;
  }

  [[nodiscard]] bool streams(NodeId node) const {
    const std::string name = "n" + std::to_string(node.value);
    const auto& all = heard_.primary->standbys;
    return std::any_of(all.begin(), all.end(), [&](const Standby& standby) {
      return standby.name == name && standby.streams;
    });
  }

  void nobody() {
    const bool all_answer =
        std::all_of(heard_.nodes.begin(), heard_.nodes.end(),
                    [](const auto& one) { return one.second.unreachable.empty(); });
    status_.counts_on = all_answer ? "no commit is acknowledged"
                                   : "no commit is acknowledged by a node that answers";
    status_.why = why_nobody();
  }

  [[nodiscard]] std::string why_nobody() const {
    std::size_t answer = 0;
    std::string not_normal, doing;
    for (const auto& [node, said] : heard_.nodes) {
      if (!said.unreachable.empty()) continue;
      ++answer;
      if (said.doing.starts_with("nobody writes: ")) return said.doing;
      if (!said.normal)
        not_normal += (not_normal.empty() ? "" : "; ") + said.is;
      else if (!said.replica && !said.doing.empty())
        doing += (doing.empty() ? "" : "; ") + named(node) + " " + said.doing;
    }
    const std::size_t all = heard_.nodes.size();
    if (answer < all / 2 + 1)
      return "only " + std::to_string(answer) + " of " + std::to_string(all) +
             (answer == 1 ? " nodes answers" : " nodes answer") +
             " here, but more than half are needed";
    if (!not_normal.empty()) return not_normal;
    if (!doing.empty()) return doing;
    return "no node is the primary, and no node says why; ask again";
  }

  static constexpr const char* follows = "follows";
  const Heard& heard_;
  ClusterStatus status_;
};

std::string does_in_words(const StatusOfNode& node) {
  if (!node.cloned) return node.does.empty() ? "-" : node.does;
  return node.does + ": " + about(node.cloned) + " of about " + about(node.clone_of);
}

}  // namespace

std::optional<NodeId> primary_of(const std::map<NodeId, NodeSaid>& nodes) {
  std::optional<NodeId> best;
  for (const auto& [node, said] : nodes)
    if (said.primary && (!best || nodes.at(*best).group < said.group)) best = node;
  return best;
}

ClusterStatus status_of(const Heard& heard) {
  return Summary(heard).make();
}

std::string in_words(const ClusterStatus& status) {
  std::ostringstream out;
  out << "primary  ";
  if (!status.primary) {
    out << "none";
  } else {
    out << named(*status.primary);
    if (!status.since.empty()) out << " since " << status.since;
    if (status.group) out << ", group " << to_text(*status.group);
    if (status.timeline) out << ", timeline " << *status.timeline;
  }
  out << "\nnow      " << status.counts_on << '\n';
  if (!status.why.empty()) out << "why      " << status.why << '\n';
  for (const std::string& warning : status.warnings) out << "warning  " << warning << '\n';
  out << std::left << "node  role         behind    to replay  does\n";
  for (const StatusOfNode& node : status.nodes)
    out << std::setw(6) << node.node.value << std::setw(13) << node.role << std::setw(10)
        << about(node.behind) << std::setw(11) << about(node.to_replay) << does_in_words(node)
        << '\n';
  return out.str();
}

}  // namespace muster::postgres
