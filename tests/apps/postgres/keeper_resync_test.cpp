#include "apps/postgres/script.hpp"

#include <boost/test/unit_test.hpp>

// Rewinding and cloning go on across groups. The note is written before a rewind or clone begins,
// and removed before the node takes its own name again.

namespace muster::postgres::test {

namespace {

const Held noted{held(40).system, held(40).term, held(40).lsn};
/// The lineage of a log that parted from this node's log at 30.
const Lineage diverged{{held().term, row_of_group}, {{1, Lsn{30}}}, 2};
/// The lineage of a log without this node's greatest row.
const Lineage other{{row_of_group}, {}, 2};

/// This node has more than the primary, and has read the primary's lineage.
Script diverging() {
  Script node = Script().reported(held(40));
  node.after(StartCalled{group, {two, {}, ""}});
  return node;
}

/// This node is being rewound.
Script rewinding() {
  Script node = diverging();
  node.after(LineageRead{diverged}, Noted{}, LineageRead{diverged}, Ended{});
  return node;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(resyncing)

BOOST_AUTO_TEST_CASE(what_was_held_is_noted_before_any_resync) {
  Script node = diverging();
  BOOST_TEST(node.after(LineageRead{diverged}) == "WriteNote");
  BOOST_TEST(node.ordered<WriteNote>().note.value().held.value() == noted);
  BOOST_TEST(node.after_each(Noted{}, LineageRead{diverged}) == "ReadLineage; End");
  BOOST_TEST(node.ordered<End>().how == Shutdown::fast);
  BOOST_TEST(node.after(Ended{}) == "Rewind");
  BOOST_TEST(node.ordered<Rewind>().from == two);
}

BOOST_AUTO_TEST_CASE(a_watcher_is_told_by_which_way_it_is_resynced) {
  Script node = rewinding();
  BOOST_TEST(node.keeper().shown.doing == "is rewound");
  BOOST_TEST(node.after(Failed{"no"}) == "Clone");
  BOOST_TEST(node.keeper().shown.doing == "is cloned");
}

BOOST_AUTO_TEST_CASE(it_is_resynced_under_a_name_that_acknowledges_nothing) {
  Script node = rewinding();
  BOOST_TEST(node.after(Resynced{}) == "Configure");
  BOOST_TEST(node.ordered<Configure>().conf == follower(false));
  BOOST_TEST(node.after_each(Configured{}, Began{}) == "Begin; AwaitStreaming");
}

BOOST_AUTO_TEST_CASE(a_resynced_node_that_does_not_start_is_cloned_only_if_its_data_is_why) {
  Script node = rewinding();
  node.after(Resynced{}, Configured{});
  BOOST_TEST(node.after(Failed{"the port is taken", true}) == "Begin");
  BOOST_TEST(node.after(Failed{"no checkpoint"}) == "ReadLineage");
  node.after(LineageRead{diverged});
  BOOST_TEST(node.after(Ended{}) == "Clone");
}

BOOST_AUTO_TEST_CASE(when_it_streams_the_note_goes_and_only_then_the_name_changes) {
  Script node = rewinding();
  node.after(Resynced{}, Configured{}, Began{});
  BOOST_TEST(node.after(Streams{}) == "WriteNote");
  BOOST_TEST(!node.ordered<WriteNote>().note);
  BOOST_TEST(node.after(Noted{}) == "Configure");
  BOOST_TEST(node.ordered<Configure>().conf == follower(false));
  BOOST_TEST(node.after_each(Configured{}, MarkerHeld{}, Configured{}) ==
             "AwaitMarker; Configure; AwaitLogGone");
  BOOST_TEST(node.keeper().follows);
}

BOOST_AUTO_TEST_CASE(a_rewind_that_fails_becomes_a_clone) {
  Script node = rewinding();
  BOOST_TEST(node.after(Failed{"no common checkpoint"}) == "Clone");
  BOOST_TEST(node.ordered<Clone>().from == two);
  BOOST_TEST(node.after_each(Failed{"the source is gone"}, LineageRead{diverged}, Ended{}) ==
             "ReadLineage; End; Clone");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_rewound_is_cloned) {
  Script node = diverging();
  BOOST_TEST(node.after(LineageRead{other}) == "WriteNote");
  node.after(Noted{}, LineageRead{other});
  BOOST_TEST(node.after(Ended{}) == "Clone");
}

BOOST_AUTO_TEST_CASE(it_takes_part_at_once_and_goes_on) {
  Script node = rewinding();
  const Round round = node.keeper().round;
  BOOST_TEST(node.after(StopCalled{}) == "GiveReport");
  BOOST_TEST(node.ordered<GiveReport>().evidence == Evidence(noted));
  BOOST_TEST(node.after(StartCalled{{6, three}, {two, {}, ""}}) == "EndStart");
  BOOST_TEST(node.after(round, Resynced{}) == "Configure");
  // The clone began in an earlier group, whose slots are gone now.
  BOOST_TEST(node.ordered<Configure>().conf == follower(false, {6, three}));
}

// If the node were not told, it would wait for a slot that is gone, and would be cloned in the end.
BOOST_AUTO_TEST_CASE(a_node_that_recovers_after_its_resync_is_told_of_the_next_group) {
  const Conf changed = follower(false, {6, three});
  for (const bool named : {false, true}) {
    Script node = rewinding();
    node.after(Resynced{});
    if (named) node.after(Configured{});
    BOOST_TEST(node.after(StopCalled{}) == "GiveReport");
    BOOST_TEST(node.after(StartCalled{{6, three}, {two, {}, ""}}) ==
               "EndStart, Abandon, Configure");
    BOOST_TEST(node.ordered<Configure>().conf == changed);
    BOOST_TEST(node.after_each(Configured{}, Began{}) == "Begin; AwaitStreaming");
  }
}

BOOST_AUTO_TEST_CASE(it_reports_what_it_held_while_the_note_is_being_written_and_taken_away) {
  Script node = diverging();
  node.after(LineageRead{diverged});
  BOOST_TEST(node.after(StopCalled{}) == "GiveReport");
  BOOST_TEST(node.ordered<GiveReport>().evidence == Evidence(noted));

  Script resynced = rewinding();
  resynced.after(Resynced{}, Configured{}, Began{}, Streams{});
  BOOST_TEST(resynced.after(StopCalled{}) == "GiveReport");
  BOOST_TEST(resynced.ordered<GiveReport>().evidence == Evidence(noted));
  BOOST_TEST(resynced.after(Noted{}) == "Configure");
  BOOST_TEST(resynced.ordered<Configure>().conf == Conf{});
}

BOOST_AUTO_TEST_CASE(a_new_life_with_a_note_is_being_resynced) {
  Script node;
  BOOST_TEST(node.after_each(Loaded{Note{noted}, {}}, StopCalled{}) == "nothing; GiveReport");
  BOOST_TEST(node.ordered<GiveReport>().evidence == Evidence(noted));
  BOOST_TEST(node.after(StartCalled{group, {two, {}, ""}}) == "EndStart, ReadLineage");
  BOOST_TEST(node.after(LineageRead{diverged}) == "End");
  BOOST_TEST(node.after(Ended{}) == "Clone");  // the data directory may be half written
}

BOOST_AUTO_TEST_CASE(another_source_ends_it_and_it_starts_again) {
  Script node = rewinding();
  node.after(StopCalled{});
  BOOST_TEST(node.after(StartCalled{{6, three}, {three, {}, ""}}) ==
             "EndStart, Abandon, ReadLineage");
  BOOST_TEST(node.ordered<ReadLineage>().of == three);
  BOOST_TEST(node.after_each(LineageRead{diverged}, Ended{}) == "End; Clone");
}

BOOST_AUTO_TEST_CASE(what_streams_and_is_to_follow_another_is_looked_at_again) {
  Script node = rewinding();
  node.after(Resynced{}, Configured{}, Began{}, StopCalled{});
  BOOST_TEST(node.after(StartCalled{{6, three}, {three, {}, ""}}) ==
             "EndStart, Abandon, Configure");
  BOOST_TEST(node.ordered<Configure>().conf == Conf{});
  BOOST_TEST(node.after_each(Configured{}, Replayed{}, Seen{held()}) ==
             "FinishReplay; Look; ReadLineage");
}

BOOST_AUTO_TEST_CASE(
    a_node_that_does_not_start_and_lost_track_of_what_it_held_is_cloned_and_does_not_count) {
  Script node;
  node.after(Loaded{}, StopCalled{}, Configured{}, Failed{"no data"});
  BOOST_TEST(node.after_each(StartCalled{group, {two, {}, ""}}, LineageRead{diverged}, Ended{}) ==
             "EndStart, ReadLineage; End; Clone");
  BOOST_TEST(node.after(StopCalled{}) == "GiveReport");
  BOOST_TEST(node.ordered<GiveReport>().evidence == Evidence(Nothing{}));
}

// A node without a record of its data does not count. With two such nodes, no node would ever write
// again. Found by the lab.
BOOST_AUTO_TEST_CASE(and_begins_what_is_there_where_nobody_writes) {
  Script node;
  node.after(Loaded{}, StopCalled{}, Configured{}, Failed{"no data"},
             StartCalled{group, {two, {}, ""}}, LineageRead{diverged}, StopCalled{});
  BOOST_TEST(node.after_each(StartCalled{{6, three}, {}}, Configured{}, Began{}) ==
             "EndStart, Abandon, Configure; Begin; WantElection");
}

// --- Data that is not the node's own, and data that its operator does not want

BOOST_AUTO_TEST_CASE(a_node_that_has_less_than_it_had_does_not_count_and_is_cloned) {
  Script node;
  node.after(Loaded{{}, as_held(held(21))}, StopCalled{}, Configured{}, Began{});
  BOOST_TEST(node.after(Seen{held(20)}) == "GiveReport, WriteNote");
  BOOST_TEST(node.keeper().note.value() == Note{});
  node.after(Noted{});
  BOOST_TEST(node.after(StartCalled{group, {two, {one}, ""}}) == "EndStart, Configure");
  node.after(Configured{}, Replayed{});
  BOOST_TEST(node.after(Seen{held(20)}) == "ReadLineage");
  // The node's log is a beginning of the primary's log, and the node is cloned all the same.
  BOOST_TEST(node.after(LineageRead{{{held().term, row_of_group}, {}, 1}}) == "End");
  BOOST_TEST(node.after_each(Ended{}, StopCalled{}) == "Clone; GiveReport");
  BOOST_TEST(node.ordered<GiveReport>().evidence == Evidence(Nothing{}));
}

BOOST_AUTO_TEST_CASE(another_database_is_less_than_what_it_had_and_as_much_is_not) {
  Held of_another = as_held(held(1));
  ++of_another.system;
  for (const auto& [had, report] : {std::pair{of_another, Evidence(Nothing{})},
                                    std::pair{as_held(held(20)), Evidence(held(20))}}) {
    Script node;
    node.after(Loaded{{}, had}, StopCalled{}, Configured{}, Began{}, Seen{held(20)});
    BOOST_TEST(node.report() == report);
  }
}

// The node also does not count in its next life, and while no node writes, because nobody knows
// which acknowledged commits it lacks.
BOOST_AUTO_TEST_CASE(who_has_lost_what_it_had_does_not_begin_what_is_there) {
  Script node;
  BOOST_TEST(node.after_each(Loaded{Note{}, {}}, StopCalled{}) == "nothing; GiveReport");
  BOOST_TEST(node.ordered<GiveReport>().evidence == Evidence(Nothing{}));
  BOOST_TEST(node.after(StartCalled{group, {}}) == "EndStart");
  node.after(StopCalled{});
  BOOST_TEST(node.after(StartCalled{{6, three}, {two, {}, ""}}) == "EndStart, ReadLineage");
}

BOOST_AUTO_TEST_CASE(whose_owner_wants_it_cloned_notes_what_it_held_before) {
  Script node = Script().following();
  BOOST_TEST(node.after(RejoinAsked{}) == "AnswerOwner, Abandon, Configure");
  node.after(Configured{}, Replayed{});
  BOOST_TEST(node.after(Seen{held()}) == "ReadLineage");
  const Lineage same{{held().term, row_of_group}, {}, 1};
  BOOST_TEST(node.after(LineageRead{same}) == "WriteNote");
  BOOST_TEST(node.ordered<WriteNote>().note.value() == Note{as_held(held())});
  node.after(Noted{});
  BOOST_TEST(node.after_each(LineageRead{same}, Ended{}) == "End; Clone");
  node.after(Resynced{});
  BOOST_TEST(!node.keeper().wants_clone);
}

// Such a PostgreSQL cannot be asked what it holds, so there is no note. Until the clone is
// complete, the node reports nothing.
BOOST_AUTO_TEST_CASE(a_node_that_does_not_get_on_in_recovery_is_cloned_if_its_operator_wants_it) {
  Script node;
  BOOST_TEST(node.after(Loaded{}, Configured{}) == "Begin");
  node.after(StopCalled{}, Overdue{});
  node.after(StartCalled{group, {two, {}, ""}});
  BOOST_TEST(node.after_each(RejoinAsked{}, Ended{}) == "AnswerOwner, Abandon, End; Clone");
  BOOST_TEST(node.after(StopCalled{}) == "GiveReport");
  BOOST_TEST(node.report() == Evidence(Nothing{}));
}

BOOST_AUTO_TEST_CASE(no_primary_is_thrown_away_and_nobody_without_one) {
  const auto refused = [](Script& node) {
    BOOST_TEST(node.after(RejoinAsked{}) == "AnswerOwner");
    return node.ordered<AnswerOwner>().refused_because;
  };
  Script primary = Script().opened();
  BOOST_TEST(refused(primary) ==
             "node 1 is the primary: make another node the primary first, with switch-over");
  Script stopped = Script().reported();
  BOOST_TEST(refused(stopped) ==
             "node 1 is in no group now, so it knows no primary: try again later");
  Script alone = Script().reported();
  alone.after(StartCalled{group, {}});
  BOOST_TEST(refused(alone) == "nobody writes now, so there is no primary to clone from");
  Script resyncing = rewinding();
  BOOST_TEST(refused(resyncing) == "node 1 is already being rewound or cloned");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::postgres::test
