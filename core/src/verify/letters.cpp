#include <muster/text.hpp>
#include <muster/verify.hpp>

#include <algorithm>

namespace muster::verify {

namespace {

/// So many lives of a node are remembered: letters of older ones have arrived or never will.
constexpr std::uint64_t remembered_lives = 8;

}  // namespace

// Steps do not overlap: what the step before promised is kept when the next one begins, so that
// only the last step of each life has to be remembered.
void Letters::step(NodeId node, Incarnation life, const Actions& actions, bool permits) {
  Sender sender;
  std::size_t saves = 0;
  bool revoked = false;
  for (const Action& action : actions) {
    if (std::holds_alternative<Save>(action)) ++saves;
    if (std::holds_alternative<Stop>(action)) revoked = permits;
    const auto* send = std::get_if<Send>(&action);
    if (!send || (saves == 0 && !revoked)) continue;
    const Letter& letter = send->letter;
    sender.promises.push_back({letter.to, letter.call, is_answer(letter), saves, revoked});
  }
  const auto key = std::pair(node, life);
  if (life.value > remembered_lives)
    senders_.erase(senders_.lower_bound({node, {}}),
                   senders_.lower_bound({node, {life.value - remembered_lives}}));
  if (sender.promises.empty())
    senders_.erase(key);
  else
    senders_.insert_or_assign(key, std::move(sender));
}

void Letters::performed(NodeId node, Incarnation life) {
  if (const auto found = senders_.find({node, life}); found != senders_.end())
    ++found->second.saves;
}

void Letters::revoked(NodeId node, Incarnation life) {
  if (const auto found = senders_.find({node, life}); found != senders_.end())
    found->second.revoked = true;
}

void Letters::forget(NodeId node, Incarnation life) {
  senders_.erase({node, life});
}

std::optional<std::string> Letters::received(const Letter& letter) const {
  const auto found = senders_.find({letter.from, letter.incarnation});
  if (found == senders_.end()) return std::nullopt;
  const Sender& sender = found->second;
  const auto promise =
      std::find_if(sender.promises.begin(), sender.promises.end(), [&](const Promise& candidate) {
        return candidate.to == letter.to && candidate.call == letter.call &&
               candidate.answer == is_answer(letter);
      });
  if (promise == sender.promises.end()) return std::nullopt;
  const std::string what = std::string(alternative_name(letter.message)) + " of node " +
                           to_text(letter.from) + " arrived before ";
  if (promise->saves > sender.saves) return what + "the Save before it was performed (P8)";
  if (promise->revoked && !sender.revoked) return what + "its permits were revoked (P1)";
  return std::nullopt;
}

}  // namespace muster::verify
