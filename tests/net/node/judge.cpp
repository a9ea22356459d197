#include "judge.hpp"

#include <muster/claims/verify.hpp>
#include <muster/values/text.hpp>

#include <algorithm>

namespace muster::test {

namespace {

/// The state of one node, rebuilt from its journal.
class Replay {
 public:
  /// A wiped node may begin with the number of its last life again.
  explicit Replay(bool wiped) : wiped_(wiped) {}

  void take(const journal::Header& header) {
    config_ = header.config;
    const bool goes_on =
        known_ && life_ == header.incarnation && (header.state.has_value() || !wiped_);
    if (goes_on != header.state.has_value() && header.gap == 0)
      wrong("its first line belongs elsewhere");
    if (goes_on && header.state && header.gap == 0 && state_ != *header.state)
      wrong("the state of its segment is " + to_text(*header.state) + ", not " + to_text(state_));
    state_ = header.state.value_or(begin(header.config));
    if (!goes_on) seq_ = 0;
    life_ = header.incarnation;
    known_ = true;
  }
  void take(const journal::Step& step) {
    stamped(step.stamp);
    const Actions actions = muster::step(config_, state_, step.event, step.at);
    if (actions != step.actions)
      wrong(to_text(step.event) + " leads to " + to_text(actions) + ", not to " +
            to_text(step.actions));
    if (muster::view(config_, state_) != step.view)
      wrong(to_text(step.event) + " leads to another state than " + to_text(step.view));
  }
  // From this line on, the replay compares everything again.
  void take(const journal::Gap& gap) {
    seq_ += gap.lines;
    stamped(gap.stamp);
    state_ = gap.state;
  }
  template <class Line>
  void take(const Line& line) {
    stamped(line.stamp);
  }
  void take(const journal::Fault&) {}
  void take(const journal::Finding&) {}

  std::vector<std::string> complaints;

 private:
  void stamped(const journal::Stamp& stamp) {
    if (stamp.seq != ++seq_)
      wrong("seq " + to_text(stamp.seq) + " comes where " + to_text(seq_) + " should");
    if (stamp.incarnation != life_) wrong("a line of another life");
    if (stamp.t < last_) wrong("its time goes back");
    last_ = stamp.t;
  }
  void wrong(const std::string& what) {
    complaints.push_back("life " + to_text(life_) + ", line " + to_text(seq_) + ": " + what);
  }

  bool wiped_;
  Config config_;
  Protocol state_;
  Incarnation life_;
  bool known_ = false;
  std::uint64_t seq_ = 0;
  Duration last_{};
};

}  // namespace

std::vector<std::string> replay(const std::vector<journal::Line>& lines, bool wiped) {
  Replay replay(wiped);
  for (const journal::Line& line : lines)
    std::visit([&](const auto& kind) { replay.take(kind); }, line);
  return replay.complaints;
}

std::vector<std::string> judge(const Journals& journals, const std::set<std::string>& spared) {
  std::vector<std::string> complaints;
  const std::vector<journal::Line> merged = journals.merged();
  const auto was_wiped = [&](NodeId node) {
    return std::any_of(merged.begin(), merged.end(), [&](const journal::Line& line) {
      const auto* fault = std::get_if<journal::Fault>(&line);
      return fault && fault->kind == journal::FaultKind::wiped && fault->node == node;
    });
  };
  for (NodeId node : journals.nodes())
    for (const std::string& complaint : replay(journals.lines(node), was_wiped(node)))
      complaints.push_back("node " + to_text(node) + ", " + complaint);
  for (const std::string& line : journals.unreadable()) complaints.push_back("unreadable: " + line);

  verify::Foreseer foreseer;
  for (const journal::Line& line : merged) foreseer.take(line);
  verify::Verifier verifier(foreseer.finish(), [](const verify::NotClaimed&) {});
  std::uint64_t number = 0;
  for (const journal::Line& line : merged)
    if (const auto taken = verifier.take(line, {"merged", ++number}); !taken)
      complaints.push_back(taken.error().what);
  for (const verify::Verdict& verdict : verifier.finish().verdicts)
    if (const auto* violated = std::get_if<verify::Violated>(&verdict))
      if (!spared.contains(violated->assertion)) complaints.push_back(to_text(verdict));
  return complaints;
}

}  // namespace muster::test
