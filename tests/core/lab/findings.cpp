#include "findings.hpp"

#include <utility>

namespace muster::lab::findings {

namespace {

// The paper's text: no repairs, and no check of group numbers. Calls of an earlier life may arrive
// late.
Bounds literal(std::uint32_t nodes, std::optional<unsigned> failures, unsigned queue) {
  Bounds bounds;
  bounds.nodes = nodes;
  bounds.repairs = Repairs::none();
  bounds.struck = {Line::counter_test};
  bounds.channels = Channels::fifo;
  bounds.failures = failures;
  bounds.queue = queue;
  return bounds;
}

Bounds ships(unsigned failures) {
  Bounds bounds;
  bounds.hooks = Hooks::slow;
  bounds.failures = failures;
  return bounds;
}

template <class Change>
Bounds with(Bounds bounds, Change change) {
  change(bounds);
  return bounds;
}

Bounds without(Bounds bounds, std::initializer_list<Line> lines) {
  bounds.struck.insert(bounds.struck.end(), lines);
  return bounds;
}

Bounds only(Bounds bounds, std::vector<std::string> assertions) {
  bounds.assertions = std::move(assertions);
  return bounds;
}

Bounds prompt(Bounds bounds) {
  bounds.hooks = Hooks::prompt;
  return bounds;
}

Bounds live(Bounds bounds) {
  bounds.liveness = true;
  return bounds;
}

// All nodes are Normal at the start.
Bounds normal(Bounds bounds) {
  for (std::uint32_t id = 1; id <= bounds.nodes; ++id) bounds.start.insert(NodeId{id});
  return bounds;
}

Bounds wrong_timeouts(std::uint32_t nodes, std::optional<unsigned> how_many) {
  Bounds bounds = normal(literal(nodes, 0, 3));
  bounds.wrong_timeouts = how_many;
  return bounds;
}

Bounds over(Bounds bounds, Channels channels) {
  bounds.channels = channels;
  return bounds;
}

Bounds tagged(Bounds bounds) {
  bounds.repairs.tags = true;
  return bounds;
}

Bounds in_parallel(Bounds bounds) {
  bounds.repairs.parallel_calls = true;
  return bounds;
}

Bounds from_1_and_2(Bounds bounds) {
  bounds.start = {NodeId{1}, NodeId{2}};
  return bounds;
}

// Makes this a row that only the bench runs, not the tests.
Row large(Row row) {
  row.quick = false;
  return row;
}

Bounds in_rounds(const Bounds& bounds, std::initializer_list<Line> until) {
  return without(without(bounds, {Line::halts_one_by_one, Line::halts_once}), until);
}

void normal_for_me(Bounds& bounds) {
  bounds.repairs.normal_for_me = true;
}
void recommended(Bounds& bounds) {
  bounds.repairs.normal_for_me = bounds.repairs.start_over_halted = true;
}

void add_literal(std::vector<Row>& rows) {
  const auto none = std::nullopt;
  constexpr auto holds = Verdict::holds;
  constexpr auto violated = Verdict::violated;
  const Bounds three = literal(3, 2, 1);
  rows.insert(
      rows.end(),
      {{"B1", "literal", live(literal(2, none, 3)), holds},
       {"B2", "literal", live(literal(3, none, 1)), holds},
       large({"C1", "literal", live(literal(3, none, 2)), holds}),
       large({"C2", "literal", normal(live(literal(4, 2, 2))), holds}),
       large({"C3", "literal", normal(literal(4, 3, 2)), holds}),
       large({"C3", "literal, all down at first", literal(4, 3, 1), holds}),
       large({"G4", "literal, 3 and 4 down at first", live(from_1_and_2(literal(4, 3, 1))), holds,
              "", 0, false}),
       {"U1", "literal, any timeout", wrong_timeouts(2, none), violated, "1a", 3},
       {"U2", "literal, any timeout", wrong_timeouts(3, none), violated, "1a", 4},
       {"S1", "literal, 2 wrong timeouts", live(wrong_timeouts(2, 2)), violated, "1a", 3, false},
       {"S2", "S1 + normal_for_me", live(with(wrong_timeouts(2, 2), normal_for_me)), violated, "1a",
        3},
       large({"S3", "literal, 3 wrong timeouts", live(wrong_timeouts(3, 3)), violated, "1a", 4,
              false}),
       large({"S4", "S3 + normal_for_me", live(with(wrong_timeouts(3, 3), normal_for_me)), violated,
              "1a", 4}),
       {"M1", "STOP does not end the Election", without(three, {Line::stop_ends_election}),
        violated, "1a", 12},
       {"M2", "no h test", without(three, {Line::h_test}), violated, "1a", 13},
       large({"M2b", "no c test", only(without(three, {Line::c_test}), {"1a", "1b"}), violated,
              "1a"}),
       {"M3", "Election at recovery, h kept",
        without(three, {Line::down_at_recovery, Line::h_undefined_at_recovery}), violated, "1a",
        15},
       {"M6", "no status test of NewCoordinator, h kept",
        without(three, {Line::status_test_of_new_coordinator, Line::h_undefined_at_recovery}),
        violated, "1a", 12},
       large({"F8", "Election at recovery, h reset",
              without(literal(3, 4, 1), {Line::down_at_recovery}), holds}),
       large({"M4", "no order", over(only(literal(3, 2, 3), {"1a"}), Channels::any), violated, "1a",
              16}),
       {"M4b", "no order", over(only(literal(2, 2, 3), {"1a", "1b"}), Channels::any), violated,
        "1b", 15},
       large({"M5", "order within a life",
              over(only(literal(3, 2, 3), {"1a"}), Channels::incarnation), violated, "1a", 16}),
       {"M5b", "order within a life",
        over(only(literal(2, 2, 3), {"1a", "1b"}), Channels::incarnation), violated, "1b", 16},
       large({"F3r", "M5, letters of older lives are dropped",
              without(over(tagged(normal(literal(3, 2, 2))), Channels::incarnation),
                      {Line::same_election, Line::newer_halts_only, Line::life_test}),
              holds}),
       large({"G1", "a letter comes twice",
              with(literal(3, 2, 3), [](Bounds& b) { b.duplicates = 2; }), violated, "1a", 16}),
       large({"P1/P3", "calls in parallel but Halt", in_parallel(literal(3, 3, 1)), holds}),
       {"P2", "Halts in parallel", without(three, {Line::halts_one_by_one}), violated, "1a", 13},
       {"P2b", "Halts ascending", without(three, {Line::halts_descending}), violated, "1a", 13},
       {"P2g", "P2, and a lower node's Halt is refused after a higher one's",
        without(three, {Line::halts_one_by_one, Line::unconditional_halt}), violated, "1a", 15},
       large({"H1", "tags, no order", over(tagged(literal(2, 2, 3)), Channels::any), holds}),
       {"H6", "tags, Halts in parallel", without(tagged(three), {Line::halts_one_by_one}), violated,
        "1a", 15},
       {"D1", "Halts in parallel, restarts slower than any pending call",
        without(with(three, [](Bounds& b) { b.slow_restart = true; }), {Line::halts_one_by_one}),
        violated, "1a", 13},
       {"D2", "Halts in two rounds", in_rounds(literal(3, 2, 2), {Line::rounds_until_alike}),
        violated, "1a", 20},
       {"D3", "Halts in rounds until the same nodes answer", in_rounds(literal(3, 2, 2), {}),
        violated, "1a", 20},
       large({"D6", "Halts in rounds until the same lives answer",
              in_rounds(literal(3, 4, 1), {Line::rounds_by_node}), holds}),
       large({"F2", "literal + start_over_halted + normal_for_me",
              live(with(literal(3, none, 1), recommended)), holds}),
       large({"F4", "F2, 2 wrong timeouts and 2 failures",
              live(with(with(literal(3, 2, 1), recommended),
                        [](Bounds& b) { b.wrong_timeouts = 2; })),
              violated, "1a"})});
}

// Adds rows that expect the verdict of another row in a larger world.
void add_larger(std::vector<Row>& rows) {
  const auto none = std::nullopt;
  const auto by_life = {Line::rounds_by_node};
  const auto twice = [](Bounds& b) { b.duplicates = 2; };
  const auto any = Channels::any;
  const auto a_failed_hook = [](Bounds& b) {
    b.hooks = Hooks::failing;
    b.failed_hooks = 1;
  };
  const auto a_pause = [](Bounds& b) { b.pauses = 1; };
  const auto one_that_leaves = [](Bounds& b) { b.leaves = 1; };
  for (Row row :
       {Row{"D5", "P1/P3 with 4 failures", in_parallel(literal(3, 4, 1))},
        Row{"D10", "P1/P3, 4 nodes", normal(in_parallel(literal(4, 2, 1)))},
        Row{"D7", "D6 without end", live(in_rounds(literal(3, none, 1), by_life))},
        Row{"D9", "D6, 4 nodes", normal(in_rounds(literal(4, 2, 1), by_life))},
        Row{"D11", "D9, all in parallel",
            normal(in_rounds(in_parallel(literal(4, 2, 1)), by_life))},
        Row{"H2", "tags, no order, 3 nodes", over(tagged(normal(literal(3, 2, 2))), any)},
        Row{"H2", "the same, 1 failure", over(tagged(normal(literal(3, 1, 2))), any)},
        Row{"H3", "tags, letters twice", with(tagged(normal(literal(3, 2, 2))), twice)},
        Row{"H4", "tags, no order, letters twice",
            with(over(tagged(normal(literal(3, 2, 2))), any), twice)},
        Row{"H4", "the same, 1 failure", with(over(tagged(normal(literal(3, 1, 2))), any), twice)},
        Row{"H5", "H4, 2 nodes", with(over(tagged(literal(2, 2, 3)), any), twice)},
        Row{"G2", "F2, 4 nodes", normal(live(with(literal(4, 3, 1), recommended)))},
        Row{"V2", "as it ships, a hook fails", live(normal(with(ships(2), a_failed_hook)))},
        Row{"V2", "as it ships, a pause", normal(with(ships(2), a_pause))},
        Row{"V2", "the same, 1 failure", live(normal(with(ships(1), a_pause)))},
        Row{"V2", "as it ships, one leaves", normal(with(ships(2), one_that_leaves))},
        Row{"V2", "the same, 1 failure", live(normal(with(ships(1), one_that_leaves)))}}) {
    rows.push_back(large(std::move(row)));
  }
}

// The protocol before all rules of docs/protocols/bully/decided.md existed. Hooks take any time.
Bounds repaired(unsigned failures) {
  Bounds bounds = normal(literal(3, failures, 1));
  bounds.hooks = Hooks::slow;
  recommended(bounds);
  bounds.repairs.lost_members = true;
  return bounds;
}

// A node answers Halt at once, before its `stop` is over. Only a later answer can report that it is
// not over, so refusals are reported too.
Bounds at_once(Bounds bounds) {
  bounds.repairs.stop_beside_halts = bounds.repairs.report_refusals = true;
  return bounds;
}

void add_shipped(std::vector<Row>& rows) {
  constexpr auto holds = Verdict::holds;
  constexpr auto violated = Verdict::violated;
  const auto off = [](bool Repairs::*repair) {
    return with(normal(ships(2)), [&](Bounds& b) { b.repairs.*repair = false; });
  };
  rows.insert(
      rows.end(),
      {large({"Q1", "three repairs, Halt answered when stopped", repaired(3), holds}),
       large(
           {"Q2", "Q1, who was asked in vain is not asked again", in_parallel(repaired(3)), holds}),
       large({"Q3", "Q2, nor halted again", without(in_parallel(repaired(3)), {Line::halts_to_all}),
              violated, "1a", 20}),
       {"Q3", "no Halt to who was called in vain, prompt hooks",
        without(in_parallel(literal(3, 2, 1)), {Line::halts_to_all}), violated, "1a", 20},
       large({"Q4", "Q2, Halt answered at once, refusals reported",
              at_once(in_parallel(repaired(3))), holds}),
       large({"V1", "as it ships", live(normal(ships(1))), holds}),
       large({"V1", "as it ships", live(normal(ships(2))), holds}),
       large({"V1", "as it ships", normal(ships(3)), holds}),
       large({"V3", "Hello of a new life answers Halts and questions",
              without(prompt(with(ships(0), [](Bounds& b) { b.leaves = 1; })),
                      {Line::halt_outlives_life, Line::question_outlives_life}),
              violated, "1a", 16}),
       large({"V4", "Hello of a new life answers questions",
              without(prompt(from_1_and_2(ships(2))), {Line::question_outlives_life}), violated,
              "1a"}),
       large({"V5", "the proof of an old life spares the question",
              without(prompt(with(ships(2), [](Bounds& b) { b.start = {NodeId{1}}; })),
                      {Line::failed_spares_no_question}),
              violated, "1a", 21}),
       large({"V5", "the same, Normal at first",
              without(normal(ships(2)), {Line::failed_spares_no_question}), holds}),
       large({"V6", "without start_over_halted", live(off(&Repairs::start_over_halted)), holds}),
       large({"V9", "without report_refusals and stop_beside_halts",
              with(normal(ships(2)),
                   [](Bounds& b) {
                     b.repairs.report_refusals = b.repairs.stop_beside_halts = false;
                   }),
              holds}),
       large({"V10", "without any switch",
              live(with(normal(ships(2)), [](Bounds& b) { b.repairs = Repairs::none(); })), holds}),
       large({"V7", "STOP leaves a NewCoordinator waiting",
              live(without(normal(ships(2)), {Line::stop_refuses_waiting_calls})), holds}),
       {"V8", "a leaving node is silent at once",
        without(with(ships(1), [](Bounds& b) { b.leaves = 1; }), {Line::leaving_answers}), violated,
        "1a", 8},
       {"Q5", "reorganize does not wait for the answers",
        only(without(ships(2), {Line::reorganize_after_stops}), {"1a", "1b", "works-apart"}),
        violated, "works-apart", 15},
       large({"Q6", "who refuses NewCoordinator is dropped",
              without(ships(2), {Line::refusal_starts_over}), violated, "works-apart"})});
}

// Links that stay cut (docs/findings.md). The queues hold three letters, since queues of one letter
// would hide these findings.
void add_cut(std::vector<Row>& rows) {
  const auto cut = [](Bounds bounds) {
    return live(with(std::move(bounds), [](Bounds& b) {
      b.cuts = {{NodeId{1}, NodeId{3}}};
      b.queue = 3;
    }));
  };
  const auto off = [](Bounds& b) { b.repairs.left_behind = false; };
  const auto group = Line::question_names_group;
  const auto elsewhere = Line::elsewhere_recovers;
  const auto second = Line::second_election_recovers;
  const Bounds comes_up = cut(from_1_and_2(ships(0)));
  const Bounds at_peace = cut(normal(prompt(ships(0))));
  const Bounds from_down = with(cut(ships(0)), [](Bounds& b) { b.queue = 4; });
  const Bounds two_come_up = with(comes_up, [](Bounds& b) {
    b.nodes = 4;
    b.cuts = {{NodeId{2}, NodeId{4}}};
  });
  const Bounds fails = with(prompt(comes_up), [](Bounds& b) { b.failures = 1; });
  constexpr auto holds = Verdict::holds;
  const auto wedged = [](const char* id, const char* what, Bounds bounds) {
    return Row{id, what, std::move(bounds), holds, "", 0, false};
  };
  rows.insert(
      rows.end(),
      {{"L1", "3 comes up and does not hear 1", comes_up, holds},
       wedged("L1", "without left_behind", with(comes_up, off)),
       wedged("L1", "no group in the question", without(comes_up, {group})),
       wedged("L1", "the same, and no second election", without(comes_up, {group, second})),
       {"L1", "Election(i) at No", without(comes_up, {elsewhere}), holds},
       wedged("L1", "the same, and no second election", without(comes_up, {elsewhere, second})),
       {"L1", "no second election", without(comes_up, {second}), holds},
       {"L2", "1-3 is cut at peace", at_peace, holds},
       wedged("L2", "without left_behind", with(at_peace, off)),
       wedged("L2", "no second election", without(at_peace, {second})),
       large({"L3", "L1, and a node may fail", fails, holds}),
       large(wedged("L3", "without left_behind", with(fails, off))),
       large({"L4", "all down at first", from_down, holds}),
       large(wedged("L4", "without left_behind", with(from_down, off))),
       large({"L5", "four nodes: 3 and 4 come up, and 4 does not hear 2", two_come_up, holds}),
       large(wedged("L5", "without left_behind", with(two_come_up, off)))});
}

// Nodes that differ (docs/decisions/differing.md) and stores that are restored
// (docs/decisions/safe-storage.md).
void add_others(std::vector<Row>& rows) {
  constexpr auto holds = Verdict::holds;
  const auto two = [](Bounds bounds) {
    return with(std::move(bounds), [](Bounds& b) { b.nodes = 2; });
  };
  const auto differ = [](Bounds bounds, unsigned times) {
    return with(std::move(bounds), [times](Bounds& b) { b.differences = times; });
  };
  const auto restored = [](Bounds bounds, unsigned times) {
    return with(std::move(bounds), [times](Bounds& b) { b.restores = times; });
  };
  const auto queues_of_2 = [](Bounds& b) { b.queue = 2; };
  rows.insert(
      rows.end(),
      {{"V11", "others differ", live(differ(two(ships(2)), 2)), holds},
       {"V11", "others differ", normal(differ(two(ships(3)), 3)), holds},
       {"V11", "others differ", normal(differ(prompt(ships(1)), 1)), holds},
       large({"V11", "others differ", normal(differ(ships(1), 1)), holds}),
       large({"V11", "others differ", differ(prompt(ships(1)), 1), holds}),
       {"R1", "a store is restored", restored(prompt(two(ships(2))), 1), holds},
       large({"R1", "a store is restored", with(restored(two(ships(3)), 1), queues_of_2), holds}),
       large({"R1", "a store is restored", restored(prompt(two(ships(3))), 2), holds}),
       large({"R1", "a store is restored", normal(restored(prompt(ships(1)), 1)), holds}),
       large({"R1", "a store is restored", normal(restored(ships(1), 1)), holds})});
}

// Worlds with clocks (docs/explanation/options/quorum.md, docs/explanation/options/calm.md).
// Smaller worlds with clocks are in lab_options_test.
void add_timed(std::vector<Row>& rows) {
  constexpr auto holds = Verdict::holds;
  const auto quorum = [](std::uint32_t nodes, unsigned failures, unsigned wrong_timeouts,
                         std::optional<unsigned> ticks) {
    return with(prompt(ships(failures)), [=](Bounds& b) {
      b.nodes = nodes;
      b.wrong_timeouts = wrong_timeouts;
      b.ticks = ticks;
      b.options.quorum = Quorum::majority;
    });
  };
  const auto calm = [](std::uint32_t nodes, unsigned failures, unsigned pauses) {
    return normal(with(ships(failures), [=](Bounds& b) {
      b.nodes = nodes;
      b.pauses = pauses;
      b.options.calm = std::chrono::seconds(1);
    }));
  };
  const auto and_calm = [](Bounds& b) { b.options.calm = std::chrono::seconds(1); };
  const auto slow = [](Bounds& b) { b.hooks = Hooks::slow; };
  const std::pair<const char*, Bounds> worlds[] = {
      {"Q7", live(normal(quorum(2, 0, 0, std::nullopt)))},
      {"Q7", live(quorum(2, 0, 0, std::nullopt))},
      {"Q7", quorum(2, 1, 0, std::nullopt)},
      {"Q7", normal(quorum(2, 0, 1, std::nullopt))},
      {"Q7", normal(quorum(3, 0, 1, 2))},
      {"Q7", normal(with(quorum(3, 0, 1, 2), and_calm))},
      {"Q7", normal(quorum(3, 0, 0, 3))},
      {"Q7", normal(quorum(3, 0, 0, 4))},
      {"Q7", normal(quorum(3, 0, 1, 3))},
      {"Q7", normal(with(quorum(3, 0, 1, 2), slow))},
      {"K1", live(calm(2, 1, 3))},
      {"K1", live(calm(3, 0, 2))},
      {"K1", calm(3, 0, 3)}};
  for (const auto& [id, bounds] : worlds)
    rows.push_back({id, *id == 'Q' ? "a quorum" : "calm", bounds, holds, "", 0, true, false});
}

// The Invitation algorithm by the paper's text. safe_counter is on, since it is a part of that
// text.
Bounds invitation(std::uint32_t nodes, unsigned failures, unsigned queue) {
  Bounds bounds;
  bounds.protocol = ProtocolName::invitation;
  bounds.nodes = nodes;
  bounds.invitation_repairs = muster::invitation::Repairs::none();
  bounds.channels = Channels::fifo;
  bounds.failures = failures;
  bounds.queue = queue;
  return bounds;
}

void add_invitation(std::vector<Row>& rows) {
  constexpr auto holds = Verdict::holds;
  constexpr auto violated = Verdict::violated;
  const auto any = [](Bounds& b) {
    b.wrong_timeouts.reset();
    b.losses = 1;
  };
  const auto volatile_counter = [](Bounds& b) { b.invitation_repairs.safe_counter = false; };
  const auto probe = [](Bounds& b) { b.invitation_repairs.probe_tells_status = true; };
  rows.insert(
      rows.end(),
      {{"I4", "Invitation, literal, volatile counter", with(invitation(3, 1, 2), volatile_counter),
        violated, "3b", 21},
       large({"I5", "Invitation, literal, any timeout, a loss",
              live(with(invitation(2, 2, 2), any)), holds}),
       large({"I6", "Invitation, literal, any timeout", with(invitation(3, 0, 1), any), holds}),
       large({"I7", "Invitation, literal", live(invitation(3, 1, 2)), holds, "", 0, false}),
       large({"I11", "I7 + probe_tells_status", live(with(invitation(3, 1, 2), probe)), holds}),
       large({"I12", "Invitation as it ships",
              live(over(with(invitation(3, 1, 1), [](Bounds& b) { b.invitation_repairs = {}; }),
                        Channels::session)),
              holds})});
}

}  // namespace

std::vector<Row> rows() {
  std::vector<Row> all;
  add_literal(all);
  add_larger(all);
  add_shipped(all);
  add_cut(all);
  add_others(all);
  add_timed(all);
  add_invitation(all);
  return all;
}

}  // namespace muster::lab::findings
