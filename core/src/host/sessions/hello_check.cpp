#include "hello_check.hpp"

#include <muster/values/text.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace muster::host {

namespace {

constexpr std::size_t most_keys_named = 4;

std::map<std::string_view, std::string_view> key_values(std::string_view text) {
  std::map<std::string_view, std::string_view> found;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos)
      found.emplace(line.substr(0, equals), line.substr(equals + 1));
    else if (!line.empty())
      found.emplace(line, "");
  }
  return found;
}

std::string value_at(const std::map<std::string_view, std::string_view>& values,
                     std::string_view key, const std::string& whose) {
  const auto at = values.find(key);
  return (at == values.end() ? "nothing" : presentable(at->second, 40)) + " at " + whose;
}

std::string to_words(WireVersions wire) {
  if (wire.oldest == wire.newest) return std::to_string(wire.oldest);
  return std::to_string(wire.oldest) + "-" + std::to_string(wire.newest);
}

std::string speaker(const Hello& hello) {
  if (hello.role == Role::observer) return "the observer";
  return "node " + std::to_string(hello.from.value);
}

std::string owner(NodeId proven) {
  return proven == NodeId{} ? "an observer's" : "for node " + std::to_string(proven.value);
}

}  // namespace

// A text that is far longer than this node's own is not from a member of this cluster, and
// comparing it would cost time.
std::string differing_keys(const Self& self, const Hello& hello) {
  if (hello.cluster.size() > 2 * self.cluster.size())
    return "a text of " + std::to_string(hello.cluster.size()) + " bytes, where this node's has " +
           std::to_string(self.cluster.size());
  const std::string own_name = "node " + std::to_string(self.id.value);
  const auto ours = key_values(self.cluster);
  const auto theirs = key_values(hello.cluster);
  std::set<std::string_view> keys;
  for (const auto& [key, value] : ours)
    if (const auto at = theirs.find(key); at == theirs.end() || at->second != value)
      keys.insert(key);
  for (const auto& [key, value] : theirs)
    if (!ours.contains(key)) keys.insert(key);
  if (keys.empty()) return "the order of their lines";
  std::string named;
  std::size_t count = 0;
  for (std::string_view key : keys) {
    if (count++ == most_keys_named)
      return named + ", and " + std::to_string(keys.size() - most_keys_named) + " more";
    if (!named.empty()) named += ", ";
    named += presentable(key, 60) + " (" + value_at(ours, key, own_name) + ", " +
             value_at(theirs, key, speaker(hello)) + ")";
  }
  return named;
}

std::optional<Refusal> refuse_speech(const Self& self, const Hello& hello,
                                     std::optional<NodeId> proven_by) {
  // An observer needs no certificate of its own id: every member of the cluster may look.
  if (proven_by && *proven_by != hello.from && hello.role != Role::observer) {
    return Refusal{RefusalReason::stranger, "the peer claims to be node " +
                                                std::to_string(hello.from.value) +
                                                ", but its certificate is " + owner(*proven_by)};
  }
  if (!common_wire(self.wire, wire_of(hello))) {
    return Refusal{RefusalReason::version,
                   "wire versions that do not meet (" + to_words(self.wire) + " at node " +
                       std::to_string(self.id.value) + ", " + to_words(wire_of(hello)) + " at " +
                       speaker(hello) + ")"};
  }
  if (hello.cluster != self.cluster) return Refusal{RefusalReason::cluster, "the clusters differ"};
  return std::nullopt;
}

}  // namespace muster::host
