#include <muster/journal/idle.hpp>

#include <algorithm>

namespace muster::journal {

namespace {

bool is_of_a_round(Wait procedure) {
  return procedure == Wait::Idle || procedure == Wait::Checking || procedure == Wait::Probing;
}

/// True for an answer that calls for no action.
struct FindsNothing {
  bool operator()(const Here&) const { return true; }
  bool operator()(const Normality& answer) const { return answer.normal; }
  bool operator()(const invitation::Coordinating& answer) const { return !answer.coordinator; }
  bool operator()(const invitation::Membership& answer) const { return answer.member; }
  template <class Other>
  bool operator()(const Other&) const {
    return false;
  }
};

/// True for a question about another node's state, and for its answer.
struct AsksHowItIs {
  bool operator()(const AreYouThere&) const { return true; }
  bool operator()(const in_group::AreYouThere&) const { return true; }
  bool operator()(const AreYouNormal&) const { return true; }
  bool operator()(const invitation::AreYouCoordinator&) const { return true; }
  bool operator()(const invitation::AreYouThere&) const { return true; }
  bool operator()(const Answer& answer) const { return std::visit(FindsNothing{}, answer.result); }
  template <class Other>
  bool operator()(const Other&) const {
    return false;
  }
};

bool asks_how_it_is(const Letter& letter) {
  return std::visit(AsksHowItIs{}, letter.message);
}

bool is_idle(const Event& event, const View& view) {
  if (const auto* expired = std::get_if<Expired>(&event))
    return expired->timer == Timer::check || expired->timer == Timer::coordinator ||
           expired->timer == Timer::right;
  if (const auto* received = std::get_if<Received>(&event)) return asks_how_it_is(received->letter);
  if (const auto* unanswered = std::get_if<Unanswered>(&event))
    return unanswered->by != view.coordinator && view.up && !view.up->contains(unanswered->by);
  return false;
}

bool is_idle(const Action& action) {
  if (const auto* send = std::get_if<Send>(&action)) return asks_how_it_is(send->letter);
  return std::holds_alternative<Arm>(action) || std::holds_alternative<Disarm>(action) ||
         std::holds_alternative<Right>(action);
}

}  // namespace

bool is_idle(const View& before, const Event& event, const Actions& actions, const View& after) {
  if (before.status != Status::Normal || before.application != Activity::Working) return false;
  if (!is_of_a_round(before.procedure) || !is_of_a_round(after.procedure)) return false;
  View same = after;
  same.procedure = before.procedure;
  return same == before && is_idle(event, before) &&
         std::all_of(actions.begin(), actions.end(),
                     [](const Action& action) { return is_idle(action); });
}

}  // namespace muster::journal
