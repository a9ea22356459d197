#include <muster/journal/news.hpp>
#include <muster/values/text.hpp>

namespace muster {

namespace {

std::string group_words(const View& view, NodeId self) {
  std::string text = "is Normal in group " + to_text(*view.group) + " under node " +
                     (view.coordinator ? to_text(*view.coordinator) : std::string("?"));
  if (!view.up) return text;
  NodeSet members = *view.up;
  members.insert(self);
  text += ", members";
  for (NodeId member : members) text += ' ' + to_text(member);
  return text;
}

const Refused* refusal_in(const Event& event) {
  const auto* received = std::get_if<Received>(&event);
  const auto* answer = received ? std::get_if<Answer>(&received->letter.message) : nullptr;
  return answer ? std::get_if<Refused>(&answer->result) : nullptr;
}

/// Some events say nothing of themselves: what went before them was told.
std::string cause_words(const Reason& reason) {
  return reason.trigger == Trigger::other ? std::string() : ": " + reason.evidence;
}

/// Who finds others that differ may have to stand still (docs/decisions/differing.md).
const char* what_begins(Wait procedure) {
  if (procedure == Wait::Outvoted) return "takes no part, as many others differ: ";
  if (procedure == Wait::Rejoining) return "waits for those that differ to cease: ";
  return "begins an election: ";
}

bool is_in_a_group(const View& view) {
  return view.status == Status::Reorganization || view.status == Status::Normal;
}

}  // namespace

std::vector<News> Newsreel::take(const Event& event, const View& after) {
  std::vector<News> news;
  const auto tell = [&](LogLevel level, const char* matter, const std::string& text) {
    news.push_back({level, matter, "node " + to_text(self_) + ' ' + text});
  };
  if (std::holds_alternative<HookFailed>(event)) {
    last_failure_ = Reasons::of(self_, event).evidence;
    tell(LogLevel::warning, "hook", "goes on: " + last_failure_);
  }
  if (std::holds_alternative<Leaving>(event))
    tell(LogLevel::info, "leaving", "is to leave in order");
  if (refusal_in(event))
    tell(LogLevel::warning, "refusal", "is refused: " + Reasons::of(self_, event).evidence);
  if (reasons_.take(self_, event, after))
    tell(after.procedure == Wait::Outvoted ? LogLevel::warning : LogLevel::info, "election",
         what_begins(after.procedure) + reasons_.last().evidence);
  else if (is_in_a_group(view_) && !is_in_a_group(after))
    tell(LogLevel::info, "halt", "leaves its group" + cause_words(Reasons::of(self_, event)));
  for (const auto& [node, hold] : after.held.by_node)
    if (const auto before = view_.held.by_node.find(node);
        before == view_.held.by_node.end() || before->second.until != hold.until)
      tell(LogLevel::warning, "calm",
           "does not let node " + to_text(node) + " in for " + to_text(hold.time) +
               ": it makes its group reorganize again and again (calm)");
  if (after.status == Status::Normal && after.group && after.group != told_) {
    told_ = after.group;
    tell(LogLevel::info, "group", group_words(after, self_));
  }
  view_ = after;
  return news;
}

}  // namespace muster
