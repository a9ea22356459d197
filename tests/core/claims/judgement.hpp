#pragma once

#include "core/journal/journal_builder.hpp"

#include <muster/claims/verify.hpp>

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>
#include <vector>

/// The verifier's judgement on journals that a test builds, and some journals to start from.

namespace muster::test {

using journal::Edge;
using journal::FaultKind;
using journal::PermitsEdge;

inline constexpr std::chrono::milliseconds moment{1};

struct Judgement {
  verify::Outcome outcome;
  std::vector<verify::NotClaimed> not_claimed;

  [[nodiscard]] const verify::Verdict& of(const std::string& assertion) const {
    for (const verify::Verdict& verdict : outcome.verdicts)
      if (std::visit([](const auto& kind) { return kind.assertion; }, verdict) == assertion)
        return verdict;
    throw std::logic_error("no verdict on " + assertion);
  }
  [[nodiscard]] bool holds(const std::string& assertion) const {
    return std::holds_alternative<verify::Holds>(of(assertion));
  }
  [[nodiscard]] std::uint64_t checked(const std::string& assertion) const {
    return std::get<verify::Holds>(of(assertion)).checked;
  }
  // The sentence about the violation of this assertion; empty if the assertion holds.
  [[nodiscard]] std::string why(const std::string& assertion) const {
    const auto* violated = std::get_if<verify::Violated>(&of(assertion));
    return violated ? violated->disagreement.why : "";
  }
  [[nodiscard]] std::uint64_t violations(const std::string& assertion) const {
    return std::get<verify::Violated>(of(assertion)).violations;
  }
  // The names of all violated assertions, such as "1a 1b".
  [[nodiscard]] std::string violated() const {
    std::string all;
    for (const verify::Verdict& verdict : outcome.verdicts)
      if (const auto* violated = std::get_if<verify::Violated>(&verdict))
        all += (all.empty() ? "" : " ") + violated->assertion;
    return all;
  }
};

inline Expected<Judgement> try_judge(const std::vector<journal::Line>& lines,
                                     const std::vector<std::string>& asked = {}) {
  verify::Foreseer foreseer;
  for (const journal::Line& line : lines) foreseer.take(line);
  Judgement judgement;
  verify::Verifier verifier(foreseer.finish(), [&](const verify::NotClaimed& time) {
    judgement.not_claimed.push_back(time);
  });
  verifier.ask(asked);
  std::uint64_t number = 0;
  for (const journal::Line& line : lines)
    if (const auto taken = verifier.take(line, {"story", ++number}); !taken) return taken.error();
  judgement.outcome = verifier.finish();
  return judgement;
}

/// Judges the journals as if the protocol claimed the assertions in `asked` at all times.
inline Judgement judge_asked(const JournalBuilder& story, const std::vector<std::string>& asked) {
  auto judgement = try_judge(story.lines, asked);
  BOOST_TEST_REQUIRE(judgement.has_value(), (judgement ? "" : judgement.error().what));
  return *judgement;
}

inline Judgement judge(const JournalBuilder& story) {
  return judge_asked(story, {});
}

/// Judges the journals, and checks that exactly the assertions in `violated`, such as "1a 1b", are
/// violated.
inline Judgement judge(const JournalBuilder& story, const std::string& violated) {
  Judgement judgement = judge(story);
  BOOST_TEST(judgement.violated() == violated);
  return judgement;
}

/// Checks that only this assertion is violated, with this sentence.
inline void violates(const JournalBuilder& story, const std::string& assertion,
                     const std::string& why) {
  BOOST_TEST(judge(story, assertion).why(assertion) == why);
}

inline std::string failure(const JournalBuilder& story) {
  const auto judgement = try_judge(story.lines);
  BOOST_TEST_REQUIRE(!judgement.has_value());
  return judgement.error().what;
}

// Journals of three nodes that have formed a group with coordinator 3.
inline JournalBuilder formed() {
  JournalBuilder story = recovered(3);
  story.form({1, 2, 3});
  return story;
}

struct Formed {
  JournalBuilder story = formed();
};

// Node 3 was killed, and nodes 1 and 2 formed a group of their own.
inline JournalBuilder reformed() {
  JournalBuilder story = formed();
  story.wait(moment);
  story.fault(FaultKind::killed, 3);
  story.reform({1, 2});
  return story;
}

inline Duration bound(const JournalBuilder& story) {
  return settling_bound(story.config());
}

}  // namespace muster::test
