#include <muster/verify.hpp>

#include <algorithm>

namespace muster::verify {

void Foreseer::take(const journal::Line& line) {
  if (const auto* header = std::get_if<journal::Header>(&line)) {
    life(header->node);
  } else if (const auto* happened = std::get_if<journal::Step>(&line)) {
    step(happened->stamp.node, happened->stamp.t, std::get_if<Paused>(&happened->event));
  } else if (const auto* done = std::get_if<journal::Fault>(&line)) {
    fault(*done);
  }
}

// The first line of a life, or of a segment; a life that begins has not been told of a pause
// before.
void Foreseer::life(NodeId node) {
  foresight_.nodes.insert(node);
}

void Foreseer::step(NodeId node, Duration t, const Paused* paused) {
  if (paused) foresight_.pauses.push_back({t - paused->gap, node});
  if (just_resumed_.erase(node) > 0) foresight_.resumed_to_paused[node].back() = paused != nullptr;
}

void Foreseer::fault(const journal::Fault& fault) {
  if (!fault.node) return;
  if (fault.kind == journal::FaultKind::resumed) {
    foresight_.resumed_to_paused[*fault.node].push_back(false);
    just_resumed_.insert(*fault.node);
  } else if (fault.kind == journal::FaultKind::killed) {
    just_resumed_.erase(*fault.node);  // the first event after it is one of another life
  }
}

Foresight Foreseer::finish() {
  std::sort(foresight_.pauses.begin(), foresight_.pauses.end(),
            [](const Foresight::Pause& a, const Foresight::Pause& b) {
              return std::pair(a.from, a.node) < std::pair(b.from, b.node);
            });
  return std::move(foresight_);
}

}  // namespace muster::verify
