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
  } else if (const auto* ended = std::get_if<journal::Ended>(&line)) {
    over(ended->stamp.node);
  }
}

// The first line of a life, or of a segment; a life that begins has not been told of a pause
// before.
void Foreseer::life(NodeId node) {
  foresight_.nodes.insert(node);
}

void Foreseer::step(NodeId node, Duration t, const Paused* paused) {
  if (paused) foresight_.pauses.push_back({t - paused->gap, node});
  if (just_resumed_.erase(node) > 0) foresight_.resumed_late[node].back() = paused != nullptr;
}

// A life that is over before its first event since `resumed` had no time to say `Paused`.
void Foreseer::over(NodeId node) {
  if (just_resumed_.erase(node) > 0) foresight_.resumed_late[node].back() = true;
}

void Foreseer::fault(const journal::Fault& fault) {
  using journal::FaultKind;
  if (!fault.node) return;
  if (fault.kind == FaultKind::resumed) {
    foresight_.resumed_late[*fault.node].push_back(false);
    just_resumed_.insert(*fault.node);
  } else if (fault.kind == FaultKind::killed || fault.kind == FaultKind::power_cut ||
             fault.kind == FaultKind::ended) {
    over(*fault.node);
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
