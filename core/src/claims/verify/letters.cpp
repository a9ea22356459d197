#include <muster/claims/verify.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/text.hpp>

#include <algorithm>

namespace muster::verify {

namespace {

/// This many lives of a node are remembered. Letters of older lives have arrived, or will never
/// arrive.
constexpr std::uint64_t remembered_lives = 8;

/// The largest number of letters to one node that are remembered while none has arrived.
constexpr std::size_t remembered_letters = 65536;
/// How many letters before the last arrived one are kept, because in the lab letters may come
/// twice, or be overtaken.
constexpr std::ptrdiff_t may_come_again = 64;

template <class Lives>
void forget_old_lives(Lives& lives, NodeId node, Incarnation life) {
  if (life.value > remembered_lives)
    lives.erase(lives.lower_bound({node, {}}),
                lives.lower_bound({node, {life.value - remembered_lives}}));
}

std::string what_arrived(const Letter& letter) {
  return std::string(alternative_name(letter.message)) + " of node " + to_text(letter.from) +
         " arrived ";
}

// A hash by which letters are compared. A node of wire version 2 gets these two messages without
// their group (net/src/wire/frame.cpp), so the hash leaves the group out.
std::uint64_t mark_of(const Letter& letter) {
  Letter before = letter;
  if (std::holds_alternative<in_group::AreYouThere>(letter.message)) before.message = AreYouThere{};
  const auto* answer = std::get_if<Answer>(&letter.message);
  if (answer && std::holds_alternative<Elsewhere>(answer->result)) before.message = Answer{Here{}};
  return hash(before);
}

}  // namespace

void Letters::begin(NodeId node, Incarnation life) {
  forget_old_lives(sent_, node, life);
  const auto [at, is_new] = sent_.try_emplace({node, life});
  // If the entry is not new, the store was wiped: another life had that incarnation.
  at->second.all_known = is_new;
}

Letters::Sends* Letters::known(NodeId node, Incarnation life) {
  const auto found = sent_.find({node, life});
  return found != sent_.end() && found->second.all_known ? &found->second : nullptr;
}

Letters::Sent& Letters::sent_to(Sends& sends, NodeId to) {
  const auto [at, is_new] = sends.to.try_emplace(to);
  if (is_new) at->second.older_forgotten = sends.begins_late;
  return at->second;
}

// Remembers the promises of the last step of each life. Steps do not overlap, so all promises of
// earlier steps are kept by now.
void Letters::step(NodeId node, Incarnation life, const Actions& actions, bool permits) {
  Sender sender;
  std::size_t saves = 0;
  bool revoked = false;
  const Key key{node, life};
  Sends* const sends = known(node, life);
  for (const Action& action : actions) {
    if (std::holds_alternative<Save>(action)) ++saves;
    if (std::holds_alternative<Stop>(action)) revoked = permits;
    const auto* send = std::get_if<Send>(&action);
    if (!send) continue;
    const Letter& letter = send->letter;
    if (sends) {
      Sent& sent = sent_to(*sends, letter.to);
      sent.letters.push_back(mark_of(letter));
      std::erase_if(sent.strays,
                    [&](const auto& stray) { return stray.first == sent.letters.back(); });
      if (sent.letters.size() > remembered_letters) {
        sent.letters.pop_front();
        sent.older_forgotten = true;
      }
    }
    if (saves > 0 || revoked)
      sender.promises.push_back({letter.to, letter.call, is_answer(letter), saves, revoked});
  }
  forget_old_lives(senders_, node, life);
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
  if (Sends* sends = known(node, life)) *sends = {false, false, {}};
}

void Letters::gap(NodeId node, Incarnation life) {
  senders_.erase({node, life});
  if (Sends* sends = known(node, life)) *sends = {true, true, {}};
}

// True if the letter was sent. Letters of one life to one node arrive in the order sent, so letters
// before one that has arrived are lost.
bool Letters::take(Sent& sent, std::uint64_t letter) {
  const auto at = std::find(sent.letters.begin(), sent.letters.end(), letter);
  if (at == sent.letters.end()) return sent.older_forgotten;
  if (at - sent.letters.begin() > may_come_again) {
    sent.letters.erase(sent.letters.begin(), at - may_come_again);
    sent.older_forgotten = false;
  }
  return true;
}

// Returns the letters that arrived before `t` and are not known to have been sent. Clocks may be
// equal or differ a little, so a letter received at the same time may still be found in the
// sender's journal.
std::vector<Letters::Stray> Letters::known_until(NodeId node, Incarnation life, Duration t) {
  std::vector<Stray> all;
  Sends* const sends = known(node, life);
  if (!sends) return all;
  for (auto& [to, sent] : sends->to) {
    for (auto& [letter, stray] : sent.strays)
      if (stray.t < t) all.push_back(std::move(stray));
    std::erase_if(sent.strays, [&](const auto& stray) { return stray.second.t < t; });
  }
  return all;
}

std::optional<std::string> Letters::received(const Letter& letter, Duration t, const Place& place) {
  if (Sends* const sends = known(letter.from, letter.incarnation)) {
    const std::uint64_t its = mark_of(letter);
    Sent& sent = sent_to(*sends, letter.to);
    if (!take(sent, its))
      sent.strays.push_back(
          {its, {letter.to, t, place, what_arrived(letter) + "but that node never sent it"}});
  }
  const auto found = senders_.find({letter.from, letter.incarnation});
  if (found == senders_.end()) return std::nullopt;
  const Sender& sender = found->second;
  const auto promise =
      std::find_if(sender.promises.begin(), sender.promises.end(), [&](const Promise& candidate) {
        return candidate.to == letter.to && candidate.call == letter.call &&
               candidate.answer == is_answer(letter);
      });
  if (promise == sender.promises.end()) return std::nullopt;
  if (promise->saves > sender.saves)
    return what_arrived(letter) + "before the Save that precedes it was performed (P8)";
  if (promise->revoked && !sender.revoked)
    return what_arrived(letter) + "before its permits were revoked (P1)";
  return std::nullopt;
}

}  // namespace muster::verify
