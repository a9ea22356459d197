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

/// Some events add no reason to the log, because the event that led to them was reported.
std::string cause_words(const Reason& reason) {
  return reason.trigger == Trigger::other ? std::string() : ": " + reason.evidence;
}

/// A node that meets nodes that differ may take no part, or wait (docs/decisions/differing.md).
const char* what_begins(Wait procedure) {
  if (procedure == Wait::Outvoted) return "takes no part, because many nodes differ from it: ";
  if (procedure == Wait::Rejoining) return "waits until the nodes that differ have stopped: ";
  return "begins an election: ";
}

bool is_in_a_group(const View& view) {
  return view.status == Status::Reorganization || view.status == Status::Normal;
}

}  // namespace

std::vector<News> Newsreel::take(const Event& event, const View& after) {
  std::vector<News> news;
  const auto tell = [&](LogLevel level, const char* topic, const std::string& text) {
    news.push_back({level, topic, "node " + to_text(self_) + ' ' + text});
  };
  if (std::holds_alternative<HookFailed>(event)) {
    last_failure_ = Reasons::of(self_, event).evidence;
    tell(LogLevel::warning, "hook", "goes on: " + last_failure_);
  }
  if (std::holds_alternative<Leaving>(event))
    tell(LogLevel::info, "leaving", "was told to leave in order");
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
           "does not admit node " + to_text(node) + " for " + to_text(hold.time) +
               ": that node makes the group reorganize again and again (calm)");
  if (after.status == Status::Normal && after.group && after.group != told_) {
    told_ = after.group;
    tell(LogLevel::info, "group", group_words(after, self_));
  }
  view_ = after;
  return news;
}

}  // namespace muster
