#include <muster/claims/verify.hpp>
#include <muster/values/text.hpp>

#include <algorithm>

/// The assertion left-behind in a journal: when it is claimed, and when it is judged.

namespace muster::verify {

// The links that are cut, and pairs of nodes that refuse each other.
Cuts Verifier::unheard() const {
  Cuts unheard = cut_;
  for (const auto& [id, node] : nodes_)
    for (NodeId other : node.differ) unheard.insert(std::minmax(id, other));
  return unheard;
}

Verifier::NotJudged Verifier::left_behind_is_not_judged(const Cuts& unheard) const {
  for (NodeId id : configured_)
    if (is_unknown(id)) return {why_unknown(id), "a journal is incomplete"};
  if (may_refuse_each_other())
    return {"assumption 4: safe storage was lost, or replaced by an older copy",
            "assumption 4: safe storage"};
  const auto rivals = unheard.empty() ? std::nullopt : muster::rivals(standings_, unheard);
  if (!rivals) return {};
  return {"assumption 8: nodes " + to_text(rivals->first) + " and " + to_text(rivals->second) +
              " do not hear each other, and halt the nodes between them in turn",
          "assumption 8: rivals"};
}

void Verifier::check_left_behind() {
  if (!claims("left-behind")) return;
  const Cuts unheard = this->unheard();
  NotJudged now = left_behind_is_not_judged(unheard);
  if (now.why != not_left_behind_.why) {
    end_not_left_behind();
    not_left_behind_ = std::move(now);
    not_left_behind_.since = now_;
  }
  if (!not_left_behind_.why.empty()) return left_behind_.forget();
  left_behind_.see(now_, standings_, unheard,
                   [this](NodeId id) { return nodes_.at(id).config.timings; });
  judge("left-behind", left_behind_.overdue(now_));
}

void Verifier::end_not_left_behind() {
  const NotJudged before = std::exchange(not_left_behind_, {});
  if (before.why.empty() || !claims("left-behind")) return;
  tell_({"left-behind", before.since, now_, before.why, {}, before.cause, false});
}

}  // namespace muster::verify
