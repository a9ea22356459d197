#include "apps/postgres/script.hpp"

#include <boost/test/unit_test.hpp>

// The state machine of one node: begin, stop, report, start. Each test states one sentence of the
// design.

namespace muster::postgres::test {

BOOST_AUTO_TEST_SUITE(keeper)

// --- Begin

BOOST_AUTO_TEST_CASE(every_beginning_is_as_a_sealed_standby) {
  Script node;
  BOOST_TEST(node.after(Loaded{}) == "Configure");
  BOOST_TEST(node.ordered<Configure>().conf == Conf{});
  BOOST_TEST(node.after_each(Configured{}, Began{}) == "Begin; nothing");
}

BOOST_AUTO_TEST_CASE(it_takes_part_when_it_has_recovered_to_the_end_of_its_log) {
  Script node;
  node.after(Loaded{});
  BOOST_TEST(node.after_each(StopCalled{}, Configured{}, Began{}, Seen{held()}) ==
             "nothing; Begin; Look; GiveReport");
  BOOST_TEST(node.ordered<GiveReport>().evidence == Evidence(held()));
}

BOOST_AUTO_TEST_CASE(a_recovery_that_is_not_over_in_time_goes_on_and_is_no_data) {
  Script node;
  node.after(Loaded{}, StopCalled{}, Configured{});
  BOOST_TEST(node.after(Overdue{}) == "GiveReport");
  BOOST_TEST(node.ordered<GiveReport>().evidence == Evidence(Nothing{}));
  BOOST_TEST(node.after_each(StartCalled{group, {}}, Began{}) == "EndStart; WantElection");
}

BOOST_AUTO_TEST_CASE(what_does_not_begin_has_no_data_and_is_begun_again) {
  Script node;
  node.after(Loaded{}, StopCalled{}, Configured{});
  BOOST_TEST(node.after(Failed{"no"}) == "GiveReport");
  BOOST_TEST(node.ordered<GiveReport>().evidence == Evidence(Nothing{}));
  BOOST_TEST(node.after_each(StartCalled{group, {}}, Configured{}) == "EndStart, Configure; Begin");
}

// PostgreSQL may fail to start because a port is in use or a setting is wrong. It would then not
// start on a clone either.
BOOST_AUTO_TEST_CASE(who_does_not_begin_whatever_its_data_is_keeps_it_and_begins_again) {
  const Failed port{"the port is taken", true};
  Script node;
  node.after(Loaded{}, StopCalled{}, Configured{});
  BOOST_TEST(node.after(port) == "GiveReport");
  BOOST_TEST(node.after(StartCalled{group, {two, {}, ""}}) == "EndStart, Configure");
  node.after(Configured{});
  BOOST_TEST(node.after(port) == "Configure");
  BOOST_TEST(node.keeper().shown.doing == "does not start: the port is taken");
  node.after(Configured{});
  BOOST_TEST(node.after_each(Began{}, Seen{held()}) == "Look; ReadLineage");
  BOOST_TEST(node.keeper().shown.doing == "reads the history of its primary");
}

// --- Stop

BOOST_AUTO_TEST_CASE(a_primary_is_sealed_in_this_order) {
  Script node = Script().opened();
  BOOST_TEST(node.after(StopCalled{}) == "Abandon, Configure");
  BOOST_TEST(node.ordered<Configure>().conf == Conf{});
  BOOST_TEST(node.after_each(Configured{}, GateClosed{}, Seen{held_as_primary()}) ==
             "CloseGate; Look; GiveReport");
}

BOOST_AUTO_TEST_CASE(a_standby_is_sealed_when_nothing_is_to_be_replayed) {
  Script node = Script().following();
  BOOST_TEST(node.after(StopCalled{}) == "Abandon, Configure");
  BOOST_TEST(node.ordered<Configure>().conf == Conf{});
  BOOST_TEST(node.after_each(Configured{}, Replayed{}, Seen{held()}) ==
             "FinishReplay; Look; GiveReport");
}

BOOST_AUTO_TEST_CASE(what_is_not_sealed_in_time_goes_down_and_is_no_data) {
  Script node = Script().opened();
  node.after(StopCalled{}, Configured{});
  BOOST_TEST(node.after(Overdue{}) == "Abandon, End");
  BOOST_TEST(node.ordered<End>().how == Shutdown::immediate);
  BOOST_TEST(node.after(Ended{}) == "GiveReport, Configure");
  BOOST_TEST(node.keeper().reported_data == false);
  BOOST_TEST(node.after_each(Configured{}, Overdue{}) == "Begin; nothing");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_sealed_goes_down_too) {
  Script node = Script().opened();
  node.after(StopCalled{}, Configured{});
  BOOST_TEST(node.after_each(Failed{"no"}, Ended{}) == "End; GiveReport, Configure");
}

BOOST_AUTO_TEST_CASE(a_promotion_is_let_end_and_then_sealed) {
  Script node = Script().reported();
  node.after(StartCalled{group, {one, {}, ""}});
  BOOST_TEST(node.after_each(StopCalled{}, Promoted{}, Configured{}) ==
             "nothing; Configure; CloseGate");
}

// --- Start, primary

BOOST_AUTO_TEST_CASE(a_primary_promotes_and_writes_its_row_and_start_ends) {
  Script node = Script().reported();
  BOOST_TEST(node.after(StartCalled{group, {one, {}, ""}}) == "Promote");
  BOOST_TEST(node.after(Promoted{}) == "WriteMarker");
  BOOST_TEST(node.ordered<WriteMarker>().group == group);
  BOOST_TEST(node.after(MarkerWritten{row_of_group, Lsn{32}}) == "EndStart, Configure");
  BOOST_TEST(node.ordered<Configure>().conf == writable);
  BOOST_TEST(node.after_each(Configured{}, ConfShown{}) == "ShowConf; AwaitCopies");
  BOOST_TEST(node.ordered<AwaitCopies>().lsn == Lsn{32});
}

BOOST_AUTO_TEST_CASE(it_opens_beside_the_group_when_its_row_is_copied) {
  Script node = Script().row_written();
  BOOST_TEST(!node.keeper().open);
  BOOST_TEST(node.after(CopiesHold{}) == "Checkpoint");
  BOOST_TEST(node.keeper().open);
  BOOST_TEST(node.after(Checkpointed{}) == "AwaitNoFollower");
}

BOOST_AUTO_TEST_CASE(whom_too_few_follow_any_more_wants_another_to_write_and_says_so) {
  Script node = Script().opened();
  BOOST_TEST(node.after(FollowerGone{}) == "WantElection, AwaitNoFollower");
  BOOST_TEST(node.reported_as_primary().unfollowed);
}

// The second time, the primary waits: perhaps the nodes that should follow are still being cloned,
// and the other nodes that could write are cut off as well.
BOOST_AUTO_TEST_CASE(whose_row_is_not_copied_wants_another_to_write_once) {
  Script node = Script().row_written();
  BOOST_TEST(node.ordered<AwaitCopies>().bounded);
  BOOST_TEST(node.after(Failed{"it does not answer"}) == "AwaitCopies");
  BOOST_TEST(node.ordered<AwaitCopies>().bounded);
  BOOST_TEST(node.after(FollowerGone{}) == "WantElection, AwaitCopies");
  BOOST_TEST(!node.ordered<AwaitCopies>().bounded);
  BOOST_TEST(node.reported_as_primary().unfollowed);
  node.after(StartCalled{{6, three}, {one, {}, ""}});
  BOOST_TEST(node.after_each(MarkerWritten{row_of_group, Lsn{42}}, Configured{}, ConfShown{}) ==
             "EndStart, Configure; ShowConf; AwaitCopies");
  BOOST_TEST(!node.ordered<AwaitCopies>().bounded);
  node.after(CopiesHold{});
  BOOST_TEST(!node.keeper().in_vain);
}

BOOST_AUTO_TEST_CASE(copies_that_come_after_the_next_stop_open_nothing) {
  Script node = Script().row_written();
  const Round before = node.keeper().round;
  BOOST_TEST(node.after(StopCalled{}) == "Abandon, Configure");
  BOOST_TEST(node.after(before, CopiesHold{}) == "");
  BOOST_TEST(node.after(Configured{}) == "CloseGate");
}

BOOST_AUTO_TEST_CASE(a_primary_that_is_chosen_again_stays) {
  Script node = Script().opened();
  node.after(StopCalled{}, Configured{}, GateClosed{}, Seen{held_as_primary()});
  BOOST_TEST(node.after(StartCalled{{6, three}, {one, {}, ""}}) == "WriteMarker");
}

BOOST_AUTO_TEST_CASE(a_promotion_that_fails_ends_the_start_and_starts_again) {
  Script node = Script().reported();
  node.after(StartCalled{group, {one, {}, ""}});
  BOOST_TEST(node.after_each(Failed{"no"}, Ended{}, Configured{}) ==
             "EndStart, End; Configure; Begin");
  BOOST_TEST(node.after(Began{}) == "");  // the node is not promoted before the next `start`
}

BOOST_AUTO_TEST_CASE(a_primary_whose_postgresql_has_ended_wants_an_election) {
  Script node = Script().opened();
  BOOST_TEST(node.after_each(Died{"killed"}, StopCalled{}, Configured{}, Began{}, Seen{held()}) ==
             "Abandon, WantElection, Configure; nothing; Begin; Look; GiveReport");
}

BOOST_AUTO_TEST_CASE(who_cannot_open_wants_an_election) {
  Script node = Script().reported();
  node.after(StartCalled{group, {one, {}, ""}}, Promoted{}, MarkerWritten{row_of_group, Lsn{32}});
  BOOST_TEST(node.after(Failed{"disk full"}) == "WantElection, End");
}

// --- Start of another node

// If this node could be chosen next, it would be chosen again and again, although another node
// could write.
BOOST_AUTO_TEST_CASE(who_could_not_write_counts_and_is_not_chosen_next) {
  const auto could_not_write = [] {
    Script node = Script().reported();
    node.after(StartCalled{group, {one, {}, ""}}, Promoted{}, Failed{"disk full"}, Ended{},
               Configured{}, Began{});
    return node;
  };
  const auto report = [](Script& node) {
    node.after(StopCalled{}, Configured{}, Replayed{}, Seen{held(30)});
    return node.report();
  };
  Script node = could_not_write();
  BOOST_TEST(report(node) == Evidence(as_held(held(30))));
  BOOST_TEST(report(node) == Evidence(as_held(held(30))));
  node.after(StartCalled{{6, three}, {two, {one}, ""}},
             LineageRead{{{held().term, row_of_group}, {}, 1}}, Configured{});
  // After its failure the node has followed a primary, so it may be able to write again.
  BOOST_TEST(report(node) == Evidence(held(30)));

  Script alone = could_not_write();
  report(alone);
  BOOST_TEST(alone.after(StartCalled{{6, three}, {}}) == "EndStart, WantElection");
  BOOST_TEST(report(alone) == Evidence(held(30)));
}

BOOST_AUTO_TEST_CASE(a_prefix_follows_at_once) {
  Script node = Script().reported();
  BOOST_TEST(node.after(StartCalled{group, {two, {one}, ""}}) == "Configure");
  BOOST_TEST(node.ordered<Configure>().conf == follower(false));
  BOOST_TEST(node.after(Configured{}) == "EndStart, AwaitMarker");
  BOOST_TEST(node.ordered<AwaitMarker>().group == group);
}

BOOST_AUTO_TEST_CASE(who_follows_counts_only_once_it_has_the_row_of_the_group) {
  Script node = Script().reported();
  node.after(StartCalled{group, {two, {one}, ""}}, Configured{});
  BOOST_TEST(!node.keeper().follows);
  BOOST_TEST(node.keeper().shown.doing == "waits until it has the marker of its group");
  BOOST_TEST(node.after_each(Failed{"a lock"}, MarkerHeld{}) == "AwaitMarker; Configure");
  BOOST_TEST(node.ordered<Configure>().conf == follower(true));
  BOOST_TEST(node.after(Configured{}) == "AwaitLogGone");
  BOOST_TEST(node.keeper().follows);
}

BOOST_AUTO_TEST_CASE(who_was_away_for_longer_than_the_log_is_kept_is_cloned) {
  Script node = Script().reported();
  node.after(StartCalled{group, {two, {one}, ""}}, Configured{});
  BOOST_TEST(node.after_each(LogGone{}, Configured{}, Replayed{}, Seen{held()}) ==
             "Configure; FinishReplay; Look; ReadLineage");
  BOOST_TEST(node.after(LineageRead{{{held().term, row_of_group}, {}, 1}}) == "WriteNote");
  BOOST_TEST(node.keeper().note->held.value() == as_held(held()));
  Script later = Script().following();
  BOOST_TEST(later.after_each(Failed{"no answer"}, LogGone{}) == "AwaitLogGone; Configure");
}

BOOST_AUTO_TEST_CASE(another_reads_the_lineage_beside_the_group) {
  Script node = Script().reported();
  BOOST_TEST(node.after(StartCalled{group, {two, {}, ""}}) == "EndStart, ReadLineage");
  BOOST_TEST(node.ordered<ReadLineage>().of == two);
  BOOST_TEST(node.ordered<ReadLineage>().group == group);
  const Lineage lineage{{held().term, row_of_group}, {{1, Lsn{30}}}, 2};
  BOOST_TEST(node.after(LineageRead{lineage}) == "Configure");
  BOOST_TEST(node.ordered<Configure>().conf == follower(false));
}

BOOST_AUTO_TEST_CASE(a_primary_of_before_goes_down_at_once_and_begins_as_a_sealed_standby) {
  Script node = Script().opened();
  node.after(StopCalled{}, Configured{}, GateClosed{}, Seen{held_as_primary()});
  BOOST_TEST(node.after(StartCalled{{6, three}, {two, {}, ""}}) == "EndStart, End");
  BOOST_TEST(node.ordered<End>().how == Shutdown::immediate);
  BOOST_TEST(node.after(Ended{}) == "Configure");
  BOOST_TEST(node.ordered<Configure>().conf == Conf{});
  BOOST_TEST(node.after_each(Configured{}, Began{}, Seen{held(40)}) == "Begin; Look; ReadLineage");
}

BOOST_AUTO_TEST_CASE(where_nobody_writes_it_stays_as_it_is) {
  Script node = Script().reported();
  BOOST_TEST(node.after(StartCalled{group, {}}) == "EndStart");
}

BOOST_AUTO_TEST_CASE(a_standby_whose_postgresql_has_ended_follows_again) {
  Script node = Script().following();
  BOOST_TEST(node.after_each(Died{"killed"}, Configured{}, Began{}, Seen{held()}) ==
             "Abandon, Configure; Begin; Look; Configure");
  BOOST_TEST(node.ordered<Configure>().conf.follows.value() == two);
}

BOOST_AUTO_TEST_CASE(who_watches_is_told_why_it_is_what_it_is) {
  Script node = Script().reported();
  node.after(StartCalled{group, {{}, {}, "nobody writes: no data"}});
  BOOST_TEST(node.keeper().shown.doing == "nobody writes: no data");
  node.after(StopCalled{});
  BOOST_TEST(node.keeper().shown.doing == "seals itself");
  Script primary = Script().reported();
  primary.after(StartCalled{group, {one, {}, "node 1 has the newest data of 2 nodes"}});
  BOOST_TEST(primary.keeper().shown.doing == "promotes");
  primary.after(Promoted{}, MarkerWritten{row_of_group, Lsn{32}}, Configured{}, ConfShown{});
  BOOST_TEST(primary.keeper().shown.doing ==
             "waits until other nodes have the marker of its group");
  primary.after(CopiesHold{}, Checkpointed{});
  BOOST_TEST(primary.keeper().shown.doing == "node 1 has the newest data of 2 nodes");
}

BOOST_AUTO_TEST_CASE(a_lineage_that_cannot_be_read_is_read_again) {
  Script node = Script().reported();
  node.after(StartCalled{group, {two, {}, ""}});
  BOOST_TEST(node.after(Failed{"unreachable"}) == "ReadLineage");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::postgres::test
