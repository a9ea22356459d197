#include <muster/application.hpp>

#include <algorithm>
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

const Member* Reorganization::freshest() const {
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
  answered({boost::system::in_place_error, "this node is not the coordinator, and only that asks"});
}

void Application::answer(Question, Done<Bytes> done) {
  done.fail("its application answers no questions");
}

}  // namespace muster
