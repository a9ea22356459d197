#pragma once

#include <muster/protocol/step.hpp>
#include <muster/values/text.hpp>

#include <string>

namespace muster::verify {

/// "node 3", "nodes 1, 2".
inline std::string names(const NodeSet& nodes) {
  std::string out;
  for (NodeId node : nodes) out += (out.empty() ? "" : ", ") + to_text(node);
  return (nodes.size() == 1 ? "node " : "nodes ") + out;
}

}  // namespace muster::verify
