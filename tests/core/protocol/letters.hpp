#pragma once

#include <muster/protocol/step.hpp>

#include <vector>

/// Looking through letters and actions.

namespace muster::test::any {

/// To whom messages of that kind were sent, in order.
template <class Kind>
std::vector<std::uint32_t> sent(const std::vector<Letter>& letters) {
  std::vector<std::uint32_t> to;
  for (const Letter& letter : letters)
    if (std::holds_alternative<Kind>(letter.message)) to.push_back(letter.to.value);
  return to;
}
template <class Kind>
std::vector<std::uint32_t> sent(const Actions& actions) {
  std::vector<Letter> letters;
  for (const Action& action : actions)
    if (const auto* send = std::get_if<Send>(&action)) letters.push_back(send->letter);
  return sent<Kind>(letters);
}

}  // namespace muster::test::any
