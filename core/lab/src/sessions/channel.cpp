#include "channel.hpp"

#include <algorithm>

namespace muster::lab::sessions {

// --- Letters that contain their place

// The kinds of message below were chosen because they have no tag that names the life of the
// sender. The search renumbers lives, so such a tag would become wrong.
Message call_to_node(std::uint64_t letter) {
  return invitation::Invitation{{letter, NodeId{}}};
}
Message call_to_life(NodeId sender, std::uint64_t letter, Incarnation life) {
  return invitation::Ready{{letter, sender}, life, {}};
}
Message answer_to(std::uint64_t letter, Incarnation caller) {
  return Answer{invitation::Coordinating{false, GroupNumber{caller.value, NodeId{}}, letter}};
}

Places places_in(Message& message) {
  if (auto* to_node = std::get_if<invitation::Invitation>(&message))
    return {&to_node->group.counter, nullptr};
  if (auto* to_life = std::get_if<invitation::Ready>(&message))
    return {&to_life->group.counter, &to_life->receiver->value};
  auto& answer = std::get<invitation::Coordinating>(std::get<Answer>(message).result);
  return {&answer.counter, &answer.group->counter};
}

Tag tag_of(Message message) {
  const Places places = places_in(message);
  return {*places.letter, Incarnation{places.life ? *places.life : 0}};
}

// --- Checks of the sessions' outputs

void Channel::called(CallNumber call, std::uint64_t letter, std::optional<Incarnation> life,
                     bool is_up) {
  awaited.push_back({call, letter, life, 0, !is_up});
}

bool Channel::awaits(CallNumber call) const {
  return std::any_of(awaited.begin(), awaited.end(),
                     [call](const Awaited& one) { return one.call == call; });
}

bool Channel::calls_the_node(CallNumber call) const {
  return std::any_of(awaited.begin(), awaited.end(),
                     [call](const Awaited& one) { return one.call == call && !one.life; });
}

void Channel::is_alone() {
  answering.clear();
  for (Awaited& call : awaited) call.met_nobody = true;
}

void Channel::awaited_no_more(std::uint64_t caller, CallNumber call) {
  std::erase_if(answering, [&](const Answering& answer) {
    return answer.caller == caller && answer.call == call;
  });
}

Complaint Channel::on_letter(const host::LetterCame& came, std::uint64_t instance,
                             const host::Self& self, Channel* from) {
  const Letter& letter = came.letter;
  const Tag tag = tag_of(letter.message);
  if (letter.incarnation <= over)
    return "a letter comes from a life that was already reported as ended";
  if (letter.incarnation < outlived) return "a letter comes from an outlived life";
  outlived = letter.incarnation;
  if (with != 0 && with != instance)
    return "a letter comes from a second life before the first is reported as ended";
  with = instance;
  if (tag.letter <= last) return "a letter comes twice, or after one that was sent later";
  last = tag.letter;
  if (from) {
    for (Awaited& call : from->awaited) {
      if (call.letter == tag.letter) call.taken_by = self.instance;
      const bool is_to_this = !call.life || call.life == self.incarnation;
      if (call.letter < tag.letter && is_to_this && call.taken_by != self.instance)
        return "a letter comes, but a letter that was sent before it never comes";
    }
    for (const Answering& answer : from->answering)
      if (answer.letter < tag.letter && answer.caller == self.instance)
        return "a letter comes, but an answer that was sent before it never comes";
    std::erase_if(from->answering,
                  [&](const Answering& answer) { return answer.letter == tag.letter; });
  }
  if (!is_answer(letter)) {
    const auto named = life_called(letter);
    return named && named != self.incarnation
               ? "a call reaches a life other than the one that it names"
               : "";
  }
  if (tag.life != self.incarnation) return "an answer reaches a life that did not make the call";
  const auto call = std::find_if(awaited.begin(), awaited.end(),
                                 [&](const Awaited& one) { return one.call == letter.call; });
  if (call == awaited.end()) return "a call that has ended is answered";
  if (call->life.value_or(letter.incarnation) != letter.incarnation)
    return "a life answers a call that was to another life";
  awaited.erase(call);
  return {};
}

Complaint Channel::unanswered(CallNumber call, bool came_due, std::optional<Incarnation> up) {
  const auto at = std::find_if(awaited.begin(), awaited.end(),
                               [&](const Awaited& one) { return one.call == call; });
  if (at == awaited.end()) return "a call that has ended is reported unanswered";
  const bool nobody = at->life ? at->life != up : at->met_nobody;
  awaited.erase(at);
  if (came_due || nobody) return {};
  return "a call is reported unanswered before its bound, although the called node is there";
}

Complaint Channel::life_over(Incarnation life, std::uint64_t of, std::uint64_t up) {
  if (of == 0) return "a life is reported as ended, although there was no session with it";
  if (of == up) return "a life that works is reported as ended";
  if (life <= over) return "a life is reported as ended twice";
  over = life;
  with = last = 0;
  return {};
}

}  // namespace muster::lab::sessions
