#include "apps/lab/check_texts.hpp"

#include "apps/base/text.hpp"
#include "apps/lab/check_sessions.hpp"

#include <muster/claims/assertions.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <array>
#include <iomanip>

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
      return "Recovery(i) leaves S.h undefined; struck: S.h is as safe storage has it";
    case Line::down_at_recovery:
      return "a life begins Down, and stays so until an election reaches it; struck: in Election";
    case Line::halts_descending:
      return "Halts go to the highest lower node first; struck: to the lowest";
    case Line::halts_one_by_one:
      return "a Halt is sent when the one before has returned; struck: all at once";
    case Line::halts_once:
      return "if halts-one-by-one is struck, there is one round of Halts; if this line is struck "
             "too, rounds go on until two in a row are alike";
    case Line::rounds_by_node:
      return "with halts-once struck, two rounds of Halts are alike if the same nodes answered; "
             "struck: if the same lives answered";
    case Line::rounds_until_alike:
      return "with halts-once struck, rounds of Halts go on until two in a row are alike; struck: "
             "there are two rounds";
    case Line::unconditional_halt:
      return "Halt(i, j) is always obeyed; struck: not after a Halt of a higher node";
    case Line::halts_to_all:
      return "every lower node is halted; struck: except one that just left a call unanswered";
    case Line::halt_outlives_life:
      return "the end of a life does not make a Halt to that node unanswered";
    case Line::question_outlives_life:
      return "the end of a life does not make AreYouThere or AreYouNormal unanswered";
    case Line::failed_spares_no_question:
      return "the next phase A asks AreYouThere also if a life is proven to be over";
    case Line::leaving_answers:
      return "a node that leaves answers until it has stopped; struck: it is silent at once";
    case Line::stop_refuses_waiting_calls:
      return "STOP answers a waiting NewCoordinator with \"refused\"";
    case Line::safe_counter:
      return "a new life counts groups from the limit in safe storage; struck: from 0";
    case Line::counter_test:
      return "NewCoordinator is refused with a group number that is not above the node's own";
    case Line::life_test:
      return "NewCoordinator and Ready are accepted only by the life that they name";
    case Line::newer_halts_only:
      return "a Halt is ignored if its election has halted this node before";
    case Line::same_election:
      return "with tags, S.h and S.c are compared with the election of j; struck: with j";
    case Line::reorganize_after_stops:
      return "reorganize waits for every answer to NewCoordinator";
    case Line::refusal_starts_over:
      return "a node that refuses NewCoordinator makes the coordinator start over; struck: that "
             "node is left out";
    case Line::timeout_unless_normal:
      return "Timeout(i) runs in Down and Election as well";
    case Line::self_timeout:
      return "Timeout(i) of an idle coordinator in Reorganization starts over";
    case Line::question_names_group:
      return "a member asks its coordinator about their group; struck: whether it is there";
    case Line::elsewhere_recovers:
      return "a member that is told No recovers; struck: it calls Election(i)";
    case Line::second_election_recovers:
      return "a node in a group recovers if higher nodes have ended two of its elections in a row";
  }
  return "";
}

namespace {

struct Switch {
  std::string_view name;
  const char* says;
};

constexpr Switch of_the_bully[] = {
    {"start_over_halted",
     "a coordinator whose calls go unanswered halts itself before it elects again"},
    {"normal_for_me", "AreYouNormal is answered Yes only in the group of the node that asks"},
    {"lost_members", "a member that does not answer Check makes the coordinator begin an election"},
    {"report_refusals",
     "a node that refuses NewCoordinator or Ready says so, and the coordinator starts over"},
    {"tags", "Halt, NewCoordinator and Ready name their election and the life of their receiver"},
    {"parallel_calls", "NewCoordinator, Ready and AreYouNormal go out side by side"},
    {"proofs", "the end of a life counts as soon as it is proven, without a timeout"},
    {"stop_beside_halts",
     "Halt is answered while the application stops, NewCoordinator once it has stopped"},
    {"save_promises_only",
     "safe storage keeps only promises; off: the whole S(i), at every change"},
    {"back_off", "a node waits before it starts over, longer each time"},
    {"left_behind", "a node whose coordinator is in another group recovers"}};

constexpr Switch of_the_invitation[] = {
    {"safe_counter", "a new life counts groups on from safe storage; off: from 0"},
    {"growing_numbers",
     "the number of a new group is above every number that the node has heard of"},
    {"reorganization_first",
     "S(i).s is Reorganization before Accept is sent (also: reorganization-before-accept)"},
    {"probe_tells_status",
     "AreYouThere tells the status, and a member that missed its Ready is told No"},
    {"ignore_own_group", "an Invitation into one's own group is declined"},
    {"report_refusals", "a node that refuses Ready or Accept says so, and Recovery follows"},
    {"recheck_probe", "an answer to AreYouThere counts only in the state in which it was asked"},
    {"lost_members", "a member that does not answer Check, or is elsewhere, leaves S(i).Up"},
    {"known_invitees", "the wait for Accepts ends when every node that announced one has sent it"},
    {"tags", "letters of a life that is over are ignored, and Ready is for the life that accepted"},
    {"parallel_calls", "AreYouCoordinator, Invitation and Ready go out side by side"},
    {"proofs", "the end of a life counts as soon as it is proven, without a timeout"},
    {"back_off", "a Merge without a result is tried again, after a longer wait each time"}};

}  // namespace

const char* meaning(ProtocolName protocol, std::string_view repair) {
  const auto find = [&](const auto& switches) -> const char* {
    for (const Switch& one : switches)
      if (one.name == repair) return one.says;
    return nullptr;
  };
  if (protocol == ProtocolName::bully) return find(of_the_bully);
  return protocol == ProtocolName::invitation ? find(of_the_invitation) : nullptr;
}

void show_lines(std::ostream& out, bool json) {
  const auto show = [&](const char* protocol, std::string name, const char* says) {
    std::replace(name.begin(), name.end(), '_', '-');
    if (json)
      out << "{\"protocol\":\"" << protocol << "\",\"line\":\"" << name
          << "\",\"says\":" << to_json(says) << "}\n";
    else
      out << "  " << std::left << std::setw(32) << name << ' ' << says << '\n';
  };
  const auto head = [&](const char* text) {
    if (!json) out << text << '\n';
  };
  head("Lines of the Bully:");
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Line>>(
      [&](auto line) { show("bully", line.name, meaning(line.value)); });
  head("Its switches, where Muster leaves the paper's text (docs/decisions/switches.md):");
  Repairs of_bully;
  for_each_field(of_bully, [&](const char* name, bool) {
    show("bully", name, meaning(ProtocolName::bully, name));
  });
  head("Switches of the Invitation, with --protocol invitation (docs/decisions/invitation.md):");
  invitation::Repairs of_invitation;
  for_each_field(of_invitation, [&](const char* name, bool) {
    show("invitation", name, meaning(ProtocolName::invitation, name));
  });
  head("Lines of the sessions, with --sessions:");
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<host::SessionLine>>(
      [&](auto line) { show("sessions", line.name, meaning(line.value)); });
}

namespace {

struct Claim {
  const char* assertion;
  const char* says;
  const char* where;
};

constexpr std::array<Claim, 18> claims = {{
    {"1a", "two nodes in Reorganization or Normal have the same coordinator",
     "the Bully: assumptions 1 to 9, so --timeouts certain and no --losses (pauses count as "
     "failures, and nodes whose configuration differs take no part). Letters arrive in order and "
     "once, or the switch tags is on. If report_refusals is off, so is stop_beside_halts. With an "
     "option, every switch is on"},
    {"1b", "two nodes in Normal have the same definition", "as 1a"},
    {"3a", "two nodes in Reorganization or Normal, in one group, have the same coordinator",
     "the Invitation: assumptions 1 to 7, so letters in order and once (--channels session or "
     "fifo, "
     "no --duplicates), with --timeouts any, --losses and --pauses too"},
    {"3b", "two nodes in Normal, in one group, have the same definition",
     "as 3a, and the switch safe_counter"},
    {"works-apart", "no two nodes work at once for different groups", "as 1a"},
    {"group-grows", "a node never accepts a smaller group number than before",
     "the Bully: every world; the Invitation: as 3a, and the switches safe_counter and "
     "growing_numbers. Checked only if group numbers are kept: with --counters, --assertion "
     "group-grows or --strike safe-counter, for the Bully without tags unless counter-test is "
     "struck, and for the Invitation with growing_numbers"},
    {"hook-grammar",
     "P2, P4, P5: stop once for each start, reorganize when members are stopped, "
     "start of what is durable",
     "P2 and P5 in every world; P4 of the Bully, as 1a"},
    {"2",
     "once failures and recoveries cease, a state where all are Normal under one coordinator can "
     "be reached, and no fair cycle avoids it (--liveness)",
     "the Bully: assumptions 1 to 9 and the switch start_over_halted. After wrong timeouts the "
     "switch normal_for_me is on too. With an option, every switch is on. The textbook protocol: "
     "assumptions 1 to 9"},
    {"4",
     "once failures and recoveries cease, a state where all are Normal in one group can be reached "
     "(--liveness)",
     "as 3a, and the switch probe_tells_status"},
    {"sound-state", "no node reaches a state that its protocol does not have, and ends for it",
     "every world; only a struck line leads to such a state"},
    {"durable", "what was saved is still there in the next life",
     "no world of check, where safe storage loses nothing; muster verify and simulate check it"},
    {"quorum", "a reorganization has more than half of all nodes",
     "--option quorum=majority, in every world, wrong timeouts, losses and pauses included"},
    {"2 with --option quorum=majority",
     "while no majority is up: that no node is in Reorganization or Normal, or works",
     "as 2; and works-apart in every world, wrong timeouts, losses and pauses included"},
    {"2 with --cut",
     "in each connected set of nodes, one works as coordinator with all nodes that hear it, and no "
     "others work (docs/how-to/check.md)",
     "as 2, and the switches left_behind and normal_for_me; not for a set in which two nodes are "
     "each the highest that they hear"},
    {"left-behind", "no node works on for long in a group that has gone on without it",
     "no world of check, which has no time; muster simulate and muster verify --assertion "
     "left-behind check it"},
    {"1a to 2 with --option preempt=never or after",
     "the same, but the coordinator is the highest only of the nodes that held an election, not of "
     "later members (after: until they have been members for that time)",
     "as without it"},
    {"1a to 2 with --option resume=all", "the same, and no node starts before all know their task",
     "as without it; the claim about starts only without --duplicates"},
    {"1a to 2 with --option settle", "the same, but 2 holds later by that time at a first start",
     "as without it"},
}};

constexpr const char* out_of_order =
    "letters that come twice or out of order, against assumptions 6 and 7";

bool in_order_and_once(const lab::Bounds& world) {
  return world.duplicates == 0 &&
         (world.channels == lab::Channels::session || world.channels == lab::Channels::fifo);
}

// The reason why assumption 8 or 9 does not hold in that world; none if both hold. `heals`: the
// protocol recovers from wrong timeouts and cuts, so only losses are a reason.
std::optional<std::string> against_8_and_9(const lab::Bounds& world, bool heals) {
  if (!world.cuts.empty() && !heals) return "--cut, against assumption 8";
  if (world.losses > 0) return "--losses, against assumption 8";
  if (world.wrong_timeouts != 0U && !heals) return "--timeouts, against assumptions 8 and 9";
  return std::nullopt;
}

std::optional<std::string> against_what_cuts_ask(const lab::Bounds& world) {
  if (world.cuts.empty()) return std::nullopt;
  if (!world.repairs.left_behind) return "--cut, without the switch left_behind";
  if (!world.repairs.normal_for_me) return "--cut, without the switch normal_for_me";
  std::vector<Standing> all_up(world.nodes);
  for (std::uint32_t i = 0; i < world.nodes; ++i) {
    all_up[i].node = NodeId{i + 1};
    all_up[i].up = true;
  }
  const auto two = rivals(all_up, world.cuts);
  if (!two) return std::nullopt;
  return "--cut: nodes " + to_text(two->first) + " and " + to_text(two->second) +
         " are each the highest that they hear";
}

std::optional<std::string> not_claimed_by_bully(const std::string& assertion,
                                                const lab::Bounds& world) {
  if (assertion == "group-grows") return std::nullopt;
  if (!(world.options == Options{}) && !world.repairs.allow_options())
    return "an option while a switch is off: docs/explanation/options.md";
  if (assertion == "quorum") return std::nullopt;
  if (assertion == "works-apart" && world.options.quorum == Quorum::majority) return std::nullopt;
  if (assertion == "2") {
    if (!world.repairs.start_over_halted) return "without the switch start_over_halted";
    if (auto why = against_what_cuts_ask(world)) return why;
    if (auto why = against_8_and_9(world, world.repairs.normal_for_me)) return why;
    return in_order_and_once(world) ? std::nullopt : std::optional<std::string>(out_of_order);
  }
  auto why = against_8_and_9(world, false);
  if (!why && !world.repairs.safe())
    why = "without the switch report_refusals, beside stop_beside_halts";
  if (!why && !in_order_and_once(world) && !world.repairs.tags)
    why = out_of_order + std::string(", without the switch tags");
  if (why && assertion == "hook-grammar") why = "P4: " + *why;
  return why;
}

std::optional<std::string> not_claimed_by_invitation(const std::string& assertion,
                                                     const lab::Bounds& world) {
  const invitation::Repairs& repairs = world.invitation_repairs;
  if (assertion == "hook-grammar") return std::nullopt;
  if (assertion == "4" && !repairs.probe_tells_status)
    return "without the switch probe_tells_status";
  if ((assertion == "3b" || assertion == "group-grows") && !repairs.safe_counter)
    return "without the switch safe_counter";
  if (assertion == "group-grows" && !repairs.growing_numbers)
    return "without the switch growing_numbers";
  if (!in_order_and_once(world)) return out_of_order;
  return std::nullopt;
}

std::optional<std::string> not_claimed_by_textbook(const std::string& assertion,
                                                   const lab::Bounds& world) {
  if (assertion != "2") return std::nullopt;
  if (auto why = against_8_and_9(world, false)) return why;
  return in_order_and_once(world) ? std::nullopt : std::optional<std::string>(out_of_order);
}

}  // namespace

bool is_claimed_by_protocol(const std::string& assertion, const lab::Bounds& world) {
  Config config;
  config.protocol = world.protocol;
  config.options = world.options;
  config.invitation_repairs = world.invitation_repairs;
  const std::vector<std::string> claimed = claims_of(config).assertions;
  return std::find(claimed.begin(), claimed.end(), assertion) != claimed.end();
}

std::optional<std::string> not_claimed(const std::string& assertion, const lab::Bounds& world) {
  if (assertion == "sound-state") return std::nullopt;
  // Asks with all switches on, because a claim that rests on a switch is missing from `claims_of`
  // when that switch is off. The functions that are called below name the switch that is off.
  lab::Bounds as_it_ships = world;
  as_it_ships.invitation_repairs = {};
  if (!is_claimed_by_protocol(assertion, as_it_ships))
    return assertion == "quorum" ? "without --option quorum=majority"
                                 : "no claim of --protocol " + to_text(world.protocol);
  switch (world.protocol) {
    case ProtocolName::bully:
      return not_claimed_by_bully(assertion, world);
    case ProtocolName::invitation:
      return not_claimed_by_invitation(assertion, world);
    case ProtocolName::textbook:
      break;
  }
  return not_claimed_by_textbook(assertion, world);
}

void show_assumptions(std::ostream& out, bool json) {
  for (const Claim& claim : claims) {
    if (json)
      out << "{\"assertion\":" << to_json(claim.assertion) << ",\"says\":" << to_json(claim.says)
          << ",\"claimed_in\":" << to_json(claim.where) << "}\n";
    else
      out << claim.assertion << ": " << claim.says << "\n    claimed in: " << claim.where << '\n';
  }
}

std::string how_far(const lab::CheckReport& report, const lab::Bounds& world) {
  if (report.interrupted)
    return "up to depth " + std::to_string(report.progress.depth) + ", where it was interrupted";
  if (!report.ended) return "up to the limit";
  if (report.cut == 0) return "in all worlds";
  return "within queues of at most " + counted(world.queue, "letter") + " (" +
         counted(report.cut, "successor") + " cut)";
}

Failure misread(const std::string& what) {
  return {ExitCode::usage, what + "; see muster check --help"};
}

std::string is_count(const std::string& text) {
  return parse_number(text) ? "" : "expected a number of states, not " + text;
}

std::string begins_with_digit(std::string& text) {
  const bool does = !text.empty() && text.front() >= '0' && text.front() <= '9';
  return does ? "" : "expected a number of bytes, such as 4GB, not " + text;
}

}  // namespace muster::apps
