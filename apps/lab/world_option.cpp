#include "apps/lab/world_option.hpp"

#include "apps/base/text.hpp"
#include "apps/lab/cut_option.hpp"

#include <CLI/CLI.hpp>
#include <muster/values/text.hpp>

#include <sstream>

namespace muster::apps {
namespace {

using lab::Deed;

/// If `end` is not given, a world goes on for this time after the last deed.
constexpr Duration after_last_deed = std::chrono::seconds(30);

[[noreturn]] void refuse(const std::string& why) {
  throw CLI::ValidationError("--world", why);
}

bool is_about_links(Deed::What what) {
  return what == Deed::What::cut || what == Deed::What::refuse;
}

bool is_about_all(Deed::What what) {
  return what == Deed::What::heal || what == Deed::What::end;
}

NodeId node_of(const std::string& text, std::uint64_t nodes) {
  const auto id = parse_number(text);
  if (!id || *id == 0 || *id > nodes)
    refuse("expected one of the nodes 1 to " + std::to_string(nodes) + ", not '" + text + "'");
  return NodeId{static_cast<std::uint32_t>(*id)};
}

// Refuses to kill a node that is down, or to start one that is up. Nodes end and start only by
// deeds, so the deeds before this one tell which nodes are up.
void look_whether_possible(const std::vector<Deed>& deeds, const Deed& deed) {
  if (deed.what != Deed::What::kill && deed.what != Deed::What::start) return;
  bool is_up = true;
  for (const Deed& before : deeds)
    if (before.node == deed.node && !is_about_links(before.what))
      is_up = before.what == Deed::What::start;
  if (is_up == (deed.what == Deed::What::start))
    refuse("node " + to_text(deed.node) + " is " + (is_up ? "up" : "down") + " at " +
           format_duration(deed.at) + ": it cannot " + (is_up ? "start" : "be killed"));
}

// Adds the deeds of one part, such as "2s cut 1-3 2-4".
void add_deeds(std::vector<Deed>& deeds, const std::string& part, std::uint64_t nodes) {
  std::istringstream words(part);
  std::string time, verb, whom;
  words >> time >> verb;
  const auto at = parse_duration(time);
  const auto what = enumerator_named<Deed::What>(verb);
  if (!at || !what)
    refuse(
        "expected a time and a fault (kill, start, cut, refuse, heal or end), such as '2s cut "
        "1-3', not '" +
        part + "'");
  if (!deeds.empty() && *at < deeds.back().at)
    refuse("'" + part + "' is earlier than the entry before it");
  if (!deeds.empty() && deeds.back().what == Deed::What::end)
    refuse("'" + part + "' comes after the end");
  const std::size_t before = deeds.size();
  if (is_about_all(*what)) deeds.push_back({*at, *what});
  while (words >> whom) {
    if (is_about_all(*what)) refuse(verb + " takes no node or link, but has '" + whom + "'");
    Deed deed{*at, *what};
    if (is_about_links(*what))
      std::tie(deed.node, deed.other) = link_of("--world", whom, nodes);
    else
      deed.node = node_of(whom, nodes);
    look_whether_possible(deeds, deed);
    deeds.push_back(deed);
  }
  if (deeds.size() == before)
    refuse("'" + part + "' names no " + (is_about_links(*what) ? "link, such as 1-3" : "node"));
}

}  // namespace

std::vector<Deed> deeds_of(const std::string& text, std::uint64_t nodes) {
  std::vector<Deed> deeds;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    part.erase(0, part.find_first_not_of(' '));
    add_deeds(deeds, part, nodes);
  }
  if (deeds.empty()) refuse("expected times and faults, such as '2s cut 1-3, 60s end'");
  if (deeds.back().what != Deed::What::end)
    deeds.push_back({deeds.back().at + after_last_deed, Deed::What::end});
  return deeds;
}

}  // namespace muster::apps
