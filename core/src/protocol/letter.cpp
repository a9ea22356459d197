#include <muster/protocol/letter.hpp>
#include <muster/values/archive.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <algorithm>

namespace muster {

namespace {

/// Compares what a message says of its sender and its receiver with the letter that carries it.
/// Each kind has a function of its own, and there is none for all others: a new kind does not
/// compile until somebody has decided what of the envelope it repeats.
class Envelope {
 public:
  explicit Envelope(const Letter& letter) : letter_(letter) {}

  // The calls of the Bully.
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

  // The calls of the Invitation. An Invitation names any coordinator: the old one forwards it.
  bool operator()(const invitation::AreYouCoordinator&) const { return true; }
  bool operator()(const invitation::AreYouThere& call) const { return is_of_receiver(call.group); }
  bool operator()(const invitation::Invitation&) const { return true; }
  bool operator()(const invitation::Accept& call) const { return is_of_receiver(call.group); }
  bool operator()(const invitation::Ready& call) const { return is_of_sender(call.group); }

  // The calls of the textbook protocol.
  bool operator()(const textbook::Election&) const { return true; }
  bool operator()(const textbook::Coordinator& call) const { return is_of_sender(call.group); }

  // Answers. Groups of other coordinators may stand in them.
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

  // What rides on a letter: only a coordinator gives its own word, and of its own group.
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
