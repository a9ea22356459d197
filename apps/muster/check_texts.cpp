#include "apps/muster/check_texts.hpp"

#include <muster/text.hpp>

#include <array>

namespace muster::apps {

using muster::operator<<;

const char* meaning(Line line) {
  switch (line) {
    case Line::stop_ends_election:
      return "STOP ends an Election(i) that asks or halts";
    case Line::h_test:
      return "NewCoordinator(i, j) is accepted only if S.h = j";
    case Line::c_test:
      return "Ready(i, j, x) is accepted only if S.c = j";
    case Line::status_test_of_new_coordinator:
      return "NewCoordinator is accepted only in Election";
    case Line::status_test_of_ready:
      return "Ready is accepted only in Reorganization";
    case Line::h_undefined_at_recovery:
      return "Recovery(i) leaves S.h undefined; struck: what safe storage says";
    case Line::down_at_recovery:
      return "a life begins Down, until an election touches it; struck: in Election";
    case Line::halts_descending:
      return "Halts go to the highest lower node first; struck: to the lowest";
    case Line::halts_one_by_one:
      return "a Halt is sent when the one before has returned; struck: all at once";
    case Line::halts_once:
      return "with halts-one-by-one struck: one round; struck too: rounds until one is like the "
             "last";
    case Line::rounds_by_node:
      return "of such rounds: alike if the same nodes answered; struck too: if the same lives did";
    case Line::rounds_until_alike:
      return "of such rounds: until one is like the last; struck: two";
    case Line::unconditional_halt:
      return "Halt(i, j) is obeyed; struck: not after that of a higher node";
    case Line::halts_to_all:
      return "every lower node is halted; struck: none that just left a call unanswered";
    case Line::halt_outlives_life:
      return "the end of a life does not make a Halt to that node unanswered";
    case Line::question_outlives_life:
      return "the end of a life does not make AreYouThere or AreYouNormal unanswered";
    case Line::failed_spares_no_question:
      return "the proof that a life is over does not spare AreYouThere in the next phase A";
    case Line::leaving_answers:
      return "a node that leaves answers until it has stopped; struck: it is silent at once";
    case Line::stop_refuses_waiting_calls:
      return "STOP answers a NewCoordinator that waits here with \"refused\"";
    case Line::safe_counter:
      return "a new life counts groups from the limit in safe storage; struck: from 0";
    case Line::counter_test:
      return "NewCoordinator is refused with a group number that is not above the node's own";
    case Line::life_test:
      return "NewCoordinator and Ready are for one life of their receiver";
    case Line::newer_halts_only:
      return "a Halt of an election that halted here before is ignored";
    case Line::same_election:
      return "with tags, S.h and S.c are compared with the election of j; struck: with j";
    case Line::reorganize_after_stops:
      return "reorganize waits for every answer to NewCoordinator";
    case Line::refusal_starts_over:
      return "who refuses NewCoordinator makes the coordinator start over; struck: it is dropped";
    case Line::timeout_unless_normal:
      return "Timeout(i) runs in Down and Election as well";
    case Line::self_timeout:
      return "Timeout(i) of an idle coordinator in Reorganization starts over";
  }
  return "";
}

std::string name_of(Line line) {
  std::string name = to_text(line);
  for (char& letter : name)
    if (letter == '_') letter = '-';
  return name;
}

void show_lines(std::ostream& out) {
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Line>>([&](auto line) {
    const std::string name = name_of(line.value);
    out << name << std::string(name.size() < 32 ? 32 - name.size() : 1, ' ') << meaning(line.value)
        << '\n';
  });
  const auto switches = [&](const char* protocol, auto repairs) {
    out << "and the switches of the " << protocol << ':';
    for_each_field(repairs, [&](const char* name, bool) { out << ' ' << name; });
    out << '\n';
  };
  switches("Bully", Repairs{});
  switches("Invitation", invitation::Repairs{});
}

namespace {

struct Claim {
  const char* assertion;
  const char* says;
  const char* where;
};

constexpr std::array<Claim, 15> claims = {{
    {"1a", "two nodes in Reorganization or Normal have the same coordinator",
     "assumptions 1 to 9: --timeouts certain, no --losses; pauses count as failures; letters "
     "--channels session or fifo, any other and --duplicates only with the switch tags"},
    {"1b", "two nodes in Normal have the same definition", "as 1a"},
    {"3a", "two nodes in Reorganization or Normal, in one group, have the same coordinator",
     "the Invitation: assumptions 1 to 7, so with --timeouts any, --losses and --pauses too"},
    {"3b", "two nodes in Normal, in one group, have the same definition",
     "as 3a, and the switch safe_counter"},
    {"works-apart", "no two nodes work at once for different groups", "as 1a"},
    {"group-grows", "a node never accepts a smaller group number than before",
     "every world; looked at where group counters are kept (--counters, without tags, or the "
     "Invitation)"},
    {"hook-grammar",
     "P2, P4, P5: stop once for each start, reorganize when members are stopped, "
     "start of what is durable",
     "P2 and P5 in every world; P4 as 1a"},
    {"2",
     "once failures and recoveries cease, a state where all are Normal under one coordinator "
     "can be reached, and no fair way round avoids it (--liveness)",
     "assumptions 1 to 9 and the switch start_over_halted; after wrong timeouts also "
     "normal_for_me"},
    {"4",
     "once failures and recoveries cease, a state where all are Normal in one group can be reached "
     "(--liveness)",
     "the Invitation: --timeouts certain, and the switch probe_tells_status"},
    {"durable", "what was saved is there in the next life",
     "not here: safe storage is exact in this world; muster verify and simulate look at it"},
    {"quorum", "a reorganization has more than half of all nodes",
     "--option quorum=majority, in every world, wrong timeouts, losses and pauses included"},
    {"2 with --option quorum=majority",
     "while no majority is up: that nobody is in Reorganization or Normal, or works",
     "as 2; 1a, 1b and works-apart are claimed no further than without it: a minority works until "
     "it notices"},
    {"1a to 2 with --option preempt=never or after",
     "the same; the coordinator is the highest only of those that held an election, not of those "
     "that came later (after: until they have been members for so long)",
     "as without it"},
    {"1a to 2 with --option resume=all", "the same, and no node starts before all know their task",
     "as without it; the second only without --duplicates"},
    {"1a to 2 with --option settle", "the same, and 2 later by that time at a first start",
     "as without it"},
}};

}  // namespace

void show_assumptions(std::ostream& out) {
  for (const Claim& claim : claims)
    out << claim.assertion << ": " << claim.says << "\n    claimed in: " << claim.where << '\n';
}

}  // namespace muster::apps
