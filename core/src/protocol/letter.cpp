#include <muster/protocol/letter.hpp>
#include <muster/values/archive.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <algorithm>

namespace muster {

namespace {

/// Compares the sender and the receiver that a message names with the letter that carries it. No
/// function covers all other kinds: a new kind of message does not compile until somebody has
/// decided which part of the envelope it repeats.
class Envelope {
 public:
  explicit Envelope(const Letter& letter) : letter_(letter) {}

  // Calls of the Bully.
  bool operator()(const AreYouThere&) const { return true; }
  bool operator()(const AreYouNormal& call) const { return is_of_sender(call.group); }
  bool operator()(const Halt& call) const { return is_of_sender(call.election); }
  bool operator()(const NewCoordinator& call) const {
    return is_of_sender(call.election) && is_of_sender(call.group);
  }
  bool operator()(const Ready& call) const {
    return is_of_sender(call.election) && is_of_sender(call.group);
  }
  bool operator()(const AreYouFree&) const { return true; }
  bool operator()(const in_group::AreYouThere& call) const { return is_of_receiver(call.group); }

  // Calls of the Invitation. An Invitation may name any coordinator, because a former coordinator
  // forwards it.
  bool operator()(const invitation::AreYouCoordinator&) const { return true; }
  bool operator()(const invitation::AreYouThere& call) const { return is_of_receiver(call.group); }
  bool operator()(const invitation::Invitation&) const { return true; }
  bool operator()(const invitation::Accept& call) const { return is_of_receiver(call.group); }
  bool operator()(const invitation::Ready& call) const { return is_of_sender(call.group); }

  // Calls of the textbook protocol.
  bool operator()(const textbook::Election&) const { return true; }
  bool operator()(const textbook::Coordinator& call) const { return is_of_sender(call.group); }

  // Answers. For the kinds with the result true, the letter may name groups of other coordinators.
  bool operator()(const Answer& answer) const { return std::visit(*this, answer.result); }
  bool operator()(const Here&) const { return true; }
  bool operator()(const Normality&) const { return true; }
  bool operator()(const Halted&) const { return true; }
  bool operator()(const Joined&) const { return true; }
  bool operator()(const Installed&) const { return true; }
  bool operator()(const Refused&) const { return true; }
  bool operator()(const Free&) const { return true; }
  bool operator()(const Elsewhere&) const { return true; }
  bool operator()(const invitation::Coordinating& answer) const {
    return !answer.coordinator || (answer.group && is_of_sender(*answer.group));
  }
  bool operator()(const invitation::Membership&) const { return true; }
  bool operator()(const invitation::Invited&) const { return true; }

  // Riders. Bounds that are marked as a coordinator's own must be about a group of the sender.
  bool operator()(const ByQuorum& riding) const {
    return std::all_of(riding.rights.begin(), riding.rights.end(), [&](const Rights& rights) {
      return !rights.own_word || !rights.group || is_of_sender(*rights.group);
    });
  }

 private:
  [[nodiscard]] bool is_of_sender(const ElectionId& election) const {
    return election.candidate == letter_.from && election.incarnation == letter_.incarnation;
  }
  [[nodiscard]] bool is_of_sender(const GroupNumber& group) const {
    return group.coordinator == letter_.from;
  }
  [[nodiscard]] bool is_of_receiver(const GroupNumber& group) const {
    return group.coordinator == letter_.to;
  }

  const Letter& letter_;
};

}  // namespace

bool repeats_its_envelope(const Letter& letter) {
  const Envelope envelope(letter);
  return std::visit(envelope, letter.message) && (!letter.by_quorum || envelope(*letter.by_quorum));
}

std::optional<Incarnation> life_called(const Letter& letter) {
  if (const auto* call = std::get_if<NewCoordinator>(&letter.message)) return call->receiver;
  if (const auto* call = std::get_if<Ready>(&letter.message)) return call->receiver;
  if (const auto* call = std::get_if<invitation::Ready>(&letter.message)) return call->receiver;
  return std::nullopt;
}

bool is_answer(const Letter& letter) {
  return std::holds_alternative<Answer>(letter.message);
}

}  // namespace muster

MUSTER_COMPILE(muster::Letter);
MUSTER_COMPILE_ARCHIVE(muster::Letter);
