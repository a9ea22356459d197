#include <muster/application.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <iterator>
#include <tuple>

namespace muster {

namespace {

NodeSet without(const NodeSet& nodes, const NodeSet& those) {
  NodeSet rest;
  for (const NodeId node : nodes)
    if (!those.contains(node)) rest.insert(node);
  return rest;
}

}  // namespace

NodeSet HookContext::lost(const NodeSet& members) const {
  return previous ? without(previous->task.members, members) : NodeSet{};
}

NodeSet HookContext::came_back(const NodeSet& members) const {
  return without(members, previous ? previous->task.members : NodeSet{});
}

NodeSet Reorganization::nodes() const {
  NodeSet nodes;
  for (const Member& member : members) nodes.insert(member.node);
  return nodes;
}

const Member* Reorganization::last_assigned() const {
  const auto older = [](const Member& a, const Member& b) {
    return std::tie(a.holdings.group, a.node) < std::tie(b.holdings.group, b.node);
  };
  const auto found = std::max_element(members.begin(), members.end(), older);
  return found != members.end() && found->holdings.group ? &*found : nullptr;
}

void Reorganization::give_part(NodeId member, Bytes part) const {
  if (parts) (*parts)[member] = std::move(part);
}

void AskingContext::ask(NodeId member, Bytes question, Answered answered) const {
  if (questioner) return questioner(member, std::move(question), std::move(answered));
  answered({boost::system::in_place_error,
            "only the coordinator may ask, and this node is not the coordinator"});
}

std::optional<std::string> Shown::wrong() const {
  if (roles.size() > most_roles)
    return std::to_string(roles.size()) + " roles: " + std::to_string(most_roles) + " at most";
  for (const auto& [role, has] : roles) {
    const bool is_name =
        !role.empty() && role.size() <= longest_role &&
        role.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
    const bool is_taken =
        std::find(std::begin(own_paths), std::end(own_paths), role) != std::end(own_paths);
    if (!is_name || is_taken)
      return "the role \"" + presentable(role, longest_role) + "\": " +
             (is_taken ? "the node itself has a page of that name; choose another"
                       : "a role has 1 to " + std::to_string(longest_role) +
                             " letters a to z, digits and '-'");
  }
  return std::nullopt;
}

void Application::answer(Question, Done<Bytes> done) {
  done.fail("its application answers no questions");
}

}  // namespace muster
