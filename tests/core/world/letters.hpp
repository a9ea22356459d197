#pragma once

#include <muster/protocol/step.hpp>

#include <boost/test/unit_test.hpp>

#include <vector>

/// Helpers to find and compare letters and actions.

namespace muster::test {

inline NodeId id(std::uint32_t node) {
  return NodeId{node};
}

using Nodes = std::vector<std::uint32_t>;

/// The receivers of all messages of that kind, in order.
template <class Kind>
Nodes sent(const std::vector<Letter>& letters) {
  Nodes to;
  for (const Letter& letter : letters)
    if (std::holds_alternative<Kind>(letter.message)) to.push_back(letter.to.value);
  return to;
}
template <class Kind>
Nodes sent(const Actions& actions) {
  std::vector<Letter> letters;
  for (const Action& action : actions)
    if (const auto* send = std::get_if<Send>(&action)) letters.push_back(send->letter);
  return sent<Kind>(letters);
}

/// The receivers of all AreYouThere, with or without a group.
inline Nodes asked_whether_there(const Actions& actions) {
  Nodes to = sent<AreYouThere>(actions);
  const Nodes about_group = sent<in_group::AreYouThere>(actions);
  to.insert(to.end(), about_group.begin(), about_group.end());
  return to;
}

/// The first answer of that kind; null if there is none.
template <class Kind>
const Kind* answer(const Actions& actions) {
  for (const Action& action : actions)
    if (const auto* send = std::get_if<Send>(&action))
      if (const auto* what = std::get_if<Answer>(&send->letter.message))
        if (const auto* kind = std::get_if<Kind>(&what->result)) return kind;
  return nullptr;
}

inline bool answers_anything(const Actions& actions) {
  return !sent<Answer>(actions).empty();
}

/// The first action of that kind; null if there is none.
template <class Kind>
const Kind* first(const Actions& actions) {
  for (const Action& action : actions)
    if (const auto* kind = std::get_if<Kind>(&action)) return kind;
  return nullptr;
}

inline bool arms(const Actions& actions, Timer timer) {
  for (const Action& action : actions)
    if (const auto* arm = std::get_if<Arm>(&action))
      if (arm->timer == timer) return true;
  return false;
}

}  // namespace muster::test

// Makes Boost.Test print lists of nodes by name.
BOOST_TEST_SPECIALIZED_COLLECTION_COMPARE(muster::test::Nodes)
