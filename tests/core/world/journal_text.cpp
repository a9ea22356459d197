#include "journal_text.hpp"

#include <muster/application.hpp>
#include <muster/detail/values/kinds.hpp>
#include <muster/values/archive.hpp>
#include <muster/values/text.hpp>

namespace muster::test {

namespace {

std::string text(std::uint64_t number) {
  return std::to_string(number);
}
std::string text(NodeId node) {
  return std::to_string(node.value);
}
std::string text(const GroupNumber& group) {
  return text(group.counter) + '.' + text(group.coordinator);
}
std::string text(const ElectionId& election) {
  return text(election.candidate) + '.' + text(election.incarnation.value) + '.' +
         text(election.number);
}
std::string quoted(const Bytes& bytes) {
  return '\'' + bytes.data + '\'';
}
// The definition that `reorganize` gave, without the parts of the members.
std::string task(const Definition& definition) {
  const auto task = decode<Task>(definition.data);
  return quoted(task ? task->definition : definition);
}
template <DescribedEnum Enum>
std::string text(Enum value) {
  return std::string(enumerator_name(value));
}

struct Words {
  std::string operator()(const AreYouThere&) const { return "AreYouThere"; }
  std::string operator()(const in_group::AreYouThere&) const { return "AreYouThere"; }
  std::string operator()(const AreYouNormal& call) const {
    return "AreYouNormal " + text(call.group);
  }
  std::string operator()(const Halt& call) const { return "Halt " + text(call.election); }
  std::string operator()(const NewCoordinator& call) const {
    return "NewCoordinator " + text(call.election) + " group " + text(call.group);
  }
  std::string operator()(const Ready& call) const {
    return "Ready " + text(call.election) + ' ' + task(call.definition);
  }
  std::string operator()(const Answer& answer) const { return std::visit(*this, answer.result); }
  std::string operator()(const Here&) const { return "here"; }
  std::string operator()(const Elsewhere&) const { return "elsewhere"; }
  std::string operator()(const Normality& answer) const { return answer.normal ? "Yes" : "No"; }
  std::string operator()(const Halted& answer) const {
    return "halted, seen " + text(answer.counter);
  }
  std::string operator()(const Joined& answer) const {
    return "joined, " + quoted(answer.holdings.report) +
           (answer.holdings.group ? " of group " + text(*answer.holdings.group) : "") +
           (answer.holdings.empty ? ", empty" : "");
  }
  std::string operator()(const Installed&) const { return "installed"; }
  std::string operator()(const Refused& answer) const { return "refused: " + answer.why; }

  template <class OfAnotherProtocol>
  std::string operator()(const OfAnotherProtocol& message) const {
    return muster::to_text(message);
  }

  std::string operator()(const Recovered& event) const {
    return "Recovered life " + text(event.safe.incarnation.value);
  }
  std::string operator()(const Received& event) const {
    return "from " + text(event.letter.from) + ": " + short_text(event.letter);
  }
  std::string operator()(const Unanswered& event) const {
    return "Unanswered by " + text(event.by) + " #" + text(event.call.value);
  }
  std::string operator()(const Failed& event) const {
    return "Failed " + text(event.node) + " life " + text(event.life.value);
  }
  std::string operator()(const Expired& event) const { return "Expired " + text(event.timer); }
  std::string operator()(const Paused&) const { return "Paused"; }
  std::string operator()(const Stopped& event) const {
    return "Stopped" + (event.report ? ' ' + quoted(*event.report) : "");
  }
  std::string operator()(const Reorganized& event) const {
    return "Reorganized " + task(event.definition);
  }
  std::string operator()(const Started&) const { return "Started"; }
  std::string operator()(const HookFailed& event) const { return "HookFailed " + text(event.hook); }
  std::string operator()(const Leaving&) const { return "Leaving"; }
  std::string operator()(const ElectionAsked&) const { return "ElectionAsked"; }
  std::string operator()(const Differing& others) const {
    return "Differing " + muster::to_text(others.differ) + ", not " + muster::to_text(others.agree);
  }

  std::string operator()(const Save& action) const {
    std::string saved = "Save limit " + text(action.safe.counter_limit);
    if (action.safe.assigned) saved += " assigned " + text(action.safe.assigned->group);
    return saved;
  }
  std::string operator()(const Send& action) const {
    return "to " + text(action.letter.to) + ": " + short_text(action.letter);
  }
  std::string operator()(const Arm& action) const {
    return "Arm " + text(action.timer) + (action.level > 0 ? ' ' + text(action.level) : "");
  }
  std::string operator()(const Disarm& action) const { return "Disarm " + text(action.timer); }
  std::string operator()(const Stop& action) const {
    return "Stop " + text(action.cause.reason) + (action.owed ? "" : ", not owed");
  }
  std::string operator()(const Reorganize& action) const {
    std::string members;
    for (const Member& member : action.members) members += ' ' + text(member.node);
    return "Reorganize" + members;
  }
  std::string operator()(const Start& action) const { return "Start " + task(action.definition); }
  std::string operator()(const Leave& action) const { return "Leave " + text(action.cause); }
};

std::string short_view(const TestNode& node) {
  const View view = muster::view(node.config, node.protocol());
  std::string words = text(view.status);
  if (view.coordinator) words += " c=" + text(*view.coordinator);
  if (view.group) words += " g=" + text(*view.group);
  if (view.halted_by) words += " h=" + text(*view.halted_by);
  if (view.up) {
    words += " up={";
    for (NodeId member : *view.up) words += (words.back() == '{' ? "" : ",") + text(member);
    words += '}';
  }
  return words + ' ' + text(view.procedure) + ' ' + text(view.application);
}

}  // namespace

std::string short_text(const Letter& letter) {
  return std::visit(Words{}, letter.message) + " #" + text(letter.call.value);
}
std::string short_text(const Event& event) {
  return std::visit(Words{}, event);
}
std::string short_text(const Action& action) {
  return std::visit(Words{}, action);
}

std::string journal_line(const TestNode& node, const Event& event, const Actions& actions) {
  std::string line = text(node.config.self) + "  " + short_text(event) + "  |  ";
  for (const Action& action : actions) line += short_text(action) + "; ";
  if (actions.empty()) line += "nothing; ";
  line.resize(line.size() - 2);
  return line + "  |  " + short_view(node);
}

}  // namespace muster::test
