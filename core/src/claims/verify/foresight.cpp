#include <muster/claims/verify.hpp>

#include <algorithm>

namespace muster::verify {

void Foreseer::take(const journal::Line& line) {
  if (const auto* missing = std::get_if<journal::Gap>(&line)) gap(*missing);
  std::visit(
      [this](const auto& kind) {
        if constexpr (requires { kind.stamp; }) this->line(kind.stamp);
      },
      line);
  if (const auto* header = std::get_if<journal::Header>(&line)) {
    life(*header);
  } else if (const auto* happened = std::get_if<journal::Step>(&line)) {
    step(happened->stamp.node, happened->stamp.t, &happened->event);
    if (const auto* received = std::get_if<Received>(&happened->event))
      heard(received->letter.from, received->letter.incarnation, happened->stamp.t);
  } else if (const auto* done = std::get_if<journal::Fault>(&line)) {
    fault(*done);
  } else if (const auto* ended = std::get_if<journal::Ended>(&line)) {
    end(ended->stamp.node);
  }
}

// The first line of a life, or of a segment of its journal. The beginning of a life is the end of
// the life before.
void Foreseer::life(const journal::Header& header) {
  foresight_.nodes.insert(header.node);
  const auto before = lives_.find(header.node);
  if (before != lives_.end()) {
    if (header.state && !(before->second.incarnation < header.incarnation)) return;
    ended_silently(header.node);
  }
  lives_[header.node] = {header.incarnation, 0, header.t, header.config.timings.T, false};
  begun_[header.node].insert_or_assign(header.incarnation, header.t);
}

void Foreseer::line(const journal::Stamp& stamp) {
  const auto found = lives_.find(stamp.node);
  if (found != lives_.end() && found->second.incarnation == stamp.incarnation) {
    found->second.last_seq = stamp.seq;
    found->second.last_line = stamp.t;
  }
  failed_.erase({stamp.node, stamp.incarnation});  // the life was not over when another node said
                                                   // so
}

void Foreseer::gap(const journal::Gap& gap) {
  const auto found = lives_.find(gap.stamp.node);
  if (found == lives_.end() || found->second.incarnation != gap.stamp.incarnation) return;
  const Common& then = common(gap.state);
  const bool works = then.s == Status::Normal && then.application == Activity::Working;
  foresight_.gaps[{gap.stamp.node, gap.stamp.incarnation, found->second.last_seq}] = {
      works ? then.g : std::nullopt};
}

void Foreseer::step(NodeId node, Duration t, const Event* event) {
  const auto* paused = event ? std::get_if<Paused>(event) : nullptr;
  const auto* failed = event ? std::get_if<Failed>(event) : nullptr;
  if (paused) foresight_.pauses.push_back({t - paused->gap, node});
  if (failed) failed_.insert({failed->node, failed->life});
  if (just_resumed_.erase(node) > 0) foresight_.resumed_late[node].back() = paused != nullptr;
}

void Foreseer::heard(NodeId from, Incarnation life, Duration t) {
  heard_[{from, life}] = t;
}

// `at` is the time at which another node heard this life. A running node writes its line a little
// later than it sends the letter, so T is allowed for that.
std::optional<Foresight::Unknown> Foreseer::unknown(NodeId node, Incarnation life,
                                                    Duration at) const {
  const auto present = lives_.find(node);
  if (present == lives_.end()) return std::nullopt;  // there is no journal of this node
  const auto& begun = begun_.at(node);
  if (begun.contains(life)) {
    const ForeseenLife& last = present->second;
    const bool goes_on = life == last.incarnation && !last.ended && at > last.last_line + last.T;
    return goes_on ? std::optional(Foresight::Unknown{last.last_line}) : std::nullopt;
  }
  Foresight::Unknown span;
  for (const auto& [other, began] : begun)
    if (began <= at)
      span.from = std::max(span.from, began);
    else
      span.until = std::min(span.until, began);
  return span;
}

void Foreseer::ended_silently(NodeId node) {
  const ForeseenLife& life = lives_.at(node);
  if (!life.ended) foresight_.last_seq[{node, life.incarnation}] = life.last_seq;
}

// A line says that the life is over.
void Foreseer::end(NodeId node) {
  if (const auto found = lives_.find(node); found != lives_.end()) found->second.ended = true;
  over(node);
}

// A life that ends before its first event after `resumed` had no time to write `Paused`.
void Foreseer::over(NodeId node) {
  if (just_resumed_.erase(node) > 0) foresight_.resumed_late[node].back() = true;
}

void Foreseer::fault(const journal::Fault& fault) {
  using journal::FaultKind;
  if (!fault.node) {
    for (auto& [node, life] : lives_)
      life.ended = life.ended || fault.kind == FaultKind::killed ||
                   fault.kind == FaultKind::power_cut || fault.kind == FaultKind::ended;
    return;
  }
  if (fault.kind == FaultKind::resumed) {
    foresight_.resumed_late[*fault.node].push_back(false);
    just_resumed_.insert(*fault.node);
  } else if (fault.kind == FaultKind::killed || fault.kind == FaultKind::power_cut ||
             fault.kind == FaultKind::ended) {
    end(*fault.node);
  }
}

Foresight Foreseer::finish() {
  for (const auto& [life, at] : heard_) {
    foresight_.heard.insert(life.first);
    if (const auto span = unknown(life.first, life.second, at))
      foresight_.unknown[life.first].push_back(*span);
  }
  for (const auto& [node, life] : lives_) {
    const auto& spans = foresight_.unknown[node];
    const bool ends_early = std::any_of(
        spans.begin(), spans.end(), [](const auto& span) { return span.until == Duration::max(); });
    if (ends_early && !life.ended)
      foresight_.gaps[{node, life.incarnation, life.last_seq}] = {std::nullopt, true};
    else if (!ends_early && failed_.contains({node, life.incarnation}))
      ended_silently(node);
  }
  std::sort(foresight_.pauses.begin(), foresight_.pauses.end(),
            [](const Foresight::Pause& a, const Foresight::Pause& b) {
              return std::pair(a.from, a.node) < std::pair(b.from, b.node);
            });
  return std::move(foresight_);
}

}  // namespace muster::verify
