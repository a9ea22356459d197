#include <muster/claims/cuts.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <map>

namespace muster {

namespace {

using PartNodes = std::vector<const Standing*>;

bool counts_in_cuts(const Standing& node) {
  return node.up && node.takes_part;
}

bool is_at_work(const Standing& node) {
  return node.status == Status::Reorganization || node.status == Status::Normal || node.works_for;
}

// The sets of nodes that take part and are connected, perhaps through other nodes.
std::vector<PartNodes> connected(Standings nodes, const Cuts& cuts) {
  std::vector<PartNodes> all;
  NodeSet seen;
  for (const Standing& root : nodes) {
    if (!counts_in_cuts(root) || seen.contains(root.node)) continue;
    PartNodes& part = all.emplace_back(PartNodes{&root});
    seen.insert(root.node);
    for (std::size_t k = 0; k < part.size(); ++k)
      for (const Standing& other : nodes) {
        if (!counts_in_cuts(other) || seen.contains(other.node)) continue;
        if (are_cut(cuts, part[k]->node, other.node)) continue;
        seen.insert(other.node);
        part.push_back(&other);
      }
  }
  return all;
}

// The nodes of `part` that hear no higher node.
PartNodes highest_of(const PartNodes& part, const Cuts& cuts) {
  PartNodes found;
  for (const Standing* node : part)
    if (std::none_of(part.begin(), part.end(), [&](const Standing* other) {
          return node->node < other->node && !are_cut(cuts, node->node, other->node);
        }))
      found.push_back(node);
  return found;
}

std::string part_in_words(const PartNodes& part) {
  std::string text;
  for (const Standing* node : part)
    text += (text.empty() ? "node " : ", node ") + to_text(node->node) + ' ' +
            to_text(node->status) + " c=" + to_text(node->coordinator);
  return text;
}

bool is_led_by(const Standing& coordinator, const PartNodes& part, const Cuts& cuts) {
  return std::all_of(part.begin(), part.end(), [&](const Standing* node) {
    if (are_cut(cuts, node->node, coordinator.node)) return !is_at_work(*node);
    return node->status == Status::Normal && node->coordinator == coordinator.node &&
           node->group == coordinator.group;
  });
}

std::optional<Disagreement> disagreement_in(const PartNodes& part, const Cuts& cuts,
                                            std::size_t quorum) {
  const PartNodes tops = highest_of(part, cuts);
  if (tops.size() > 1) return std::nullopt;
  const auto hear =
      static_cast<std::size_t>(std::count_if(part.begin(), part.end(), [&](const Standing* node) {
        return !are_cut(cuts, node->node, tops.front()->node);
      }));
  const bool well = hear < quorum
                        ? std::none_of(part.begin(), part.end(),
                                       [](const Standing* node) { return is_at_work(*node); })
                        : std::any_of(part.begin(), part.end(), [&](const Standing* node) {
                            return node->status == Status::Normal &&
                                   node->coordinator == node->node && is_led_by(*node, part, cuts);
                          });
  if (well) return std::nullopt;
  NodeSet nodes;
  for (const Standing* node : part) nodes.insert(node->node);
  return Disagreement{nodes, "no group consists of exactly the nodes that hear its coordinator: " +
                                 part_in_words(part)};
}

}  // namespace

bool are_cut(const Cuts& cuts, NodeId i, NodeId j) {
  return cuts.contains(std::minmax(i, j));
}

std::optional<std::vector<NodeSet>> parts(const NodeSet& nodes, const Cuts& cuts) {
  std::map<NodeId, NodeSet> reached;
  for (NodeId i : nodes)
    for (NodeId j : nodes)
      if (!are_cut(cuts, i, j)) reached[i].insert(j);
  std::vector<NodeSet> parts;
  for (const auto& [i, part] : reached) {
    const bool alike = std::all_of(part.begin(), part.end(),
                                   [&, &of_i = part](NodeId j) { return reached[j] == of_i; });
    if (!alike) return std::nullopt;
    if (*part.begin() == i) parts.push_back(part);
  }
  return parts;
}

std::optional<std::pair<NodeId, NodeId>> rivals(Standings nodes, const Cuts& cuts) {
  for (const PartNodes& part : connected(nodes, cuts)) {
    const PartNodes tops = highest_of(part, cuts);
    if (tops.size() > 1) return std::minmax(tops[0]->node, tops[1]->node);
  }
  return std::nullopt;
}

std::optional<Disagreement> assertion_2_in_cuts(Standings nodes, const Cuts& cuts,
                                                std::size_t quorum) {
  for (const PartNodes& part : connected(nodes, cuts))
    if (auto disagreement = disagreement_in(part, cuts, quorum)) return disagreement;
  return std::nullopt;
}

}  // namespace muster
