#include "postgres/script.hpp"

#include <boost/test/unit_test.hpp>

// Mending goes on beside groups: what was held is noted before, and the note goes before the name.

namespace muster::postgres::test {

namespace {

const Mending noted{held(40).system, held(40).term, held(40).lsn};
/// A log that has left this node's at 30.
const Lineage diverged{{held().term, row_of_group}, {{1, Lsn{30}}}, 2};
/// One that has not its row.
const Lineage other{{row_of_group}, {}, 2};

/// It has more than the primary, and has read its lineage.
Script diverging() {
  Script node;
  node.reported(held(40));
  node.after(StartCalled{group, {two, {}, ""}});
  return node;
}

/// It is being rewound.
Script rewinding() {
  Script node = diverging();
  node.after(LineageRead{diverged});
  node.after(Noted{});
  node.after(LineageRead{diverged});
  node.after(Ended{});
  return node;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mending)

BOOST_AUTO_TEST_CASE(what_was_held_is_noted_before_anything_is_mended) {
  Script node = diverging();
  BOOST_TEST(node.after(LineageRead{diverged}) == "Note");
  BOOST_TEST(node.ordered<Note>().held.value() == noted);
  BOOST_TEST(node.after(Noted{}) == "ReadLineage");
  BOOST_TEST(node.after(LineageRead{diverged}) == "End");
  BOOST_TEST(node.ordered<End>().how == Shutdown::fast);
  BOOST_TEST(node.after(Ended{}) == "Rewind");
  BOOST_TEST(node.ordered<Rewind>().from == two);
}

BOOST_AUTO_TEST_CASE(who_watches_is_told_by_which_way_it_is_mended) {
  Script node = rewinding();
  BOOST_TEST(node.keeper().shown.doing == "is rewound");
  BOOST_TEST(node.after(Failed{"no"}) == "Clone");
  BOOST_TEST(node.keeper().shown.doing == "is cloned");
}

BOOST_AUTO_TEST_CASE(it_is_mended_under_a_name_that_acknowledges_nothing) {
  Script node = rewinding();
  BOOST_TEST(node.after(Mended{}) == "Configure");
  BOOST_TEST(node.ordered<Configure>().conf == (Conf{Names::sealed, two, true, group}));
  BOOST_TEST(node.after(Configured{}) == "Begin");
  BOOST_TEST(node.after(Began{}) == "AwaitStreaming");
}

BOOST_AUTO_TEST_CASE(when_it_streams_the_note_goes_and_only_then_the_name_changes) {
  Script node = rewinding();
  node.after(Mended{});
  node.after(Configured{});
  node.after(Began{});
  BOOST_TEST(node.after(Streams{}) == "Note");
  BOOST_TEST(!node.ordered<Note>().held);
  BOOST_TEST(node.after(Noted{}) == "Configure");
  BOOST_TEST(node.ordered<Configure>().conf == (Conf{Names::sealed, two, false, group}));
  BOOST_TEST(node.after(Configured{}) == "");
  BOOST_TEST(node.keeper().follows);
}

BOOST_AUTO_TEST_CASE(a_rewind_that_fails_becomes_a_clone) {
  Script node = rewinding();
  BOOST_TEST(node.after(Failed{"no common checkpoint"}) == "Clone");
  BOOST_TEST(node.ordered<Clone>().from == two);
  BOOST_TEST(node.after(Failed{"the source is gone"}) == "ReadLineage");
  BOOST_TEST(node.after(LineageRead{diverged}) == "End");
  BOOST_TEST(node.after(Ended{}) == "Clone");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_rewound_is_cloned) {
  Script node = diverging();
  BOOST_TEST(node.after(LineageRead{other}) == "Note");
  node.after(Noted{});
  node.after(LineageRead{other});
  BOOST_TEST(node.after(Ended{}) == "Clone");
}

BOOST_AUTO_TEST_CASE(it_takes_part_at_once_and_goes_on) {
  Script node = rewinding();
  const Round round = node.keeper().round;
  BOOST_TEST(node.after(StopCalled{}) == "GiveReport");
  BOOST_TEST(node.ordered<GiveReport>().evidence == Evidence(noted));
  BOOST_TEST(node.after(StartCalled{{6, three}, {two, {}, ""}}) == "EndStart");
  BOOST_TEST(node.after(round, Mended{}) == "Configure");
}

BOOST_AUTO_TEST_CASE(it_reports_what_it_held_while_the_note_is_being_written_and_taken_away) {
  Script node = diverging();
  node.after(LineageRead{diverged});
  BOOST_TEST(node.after(StopCalled{}) == "GiveReport");
  BOOST_TEST(node.ordered<GiveReport>().evidence == Evidence(noted));

  Script mended = rewinding();
  mended.after(Mended{});
  mended.after(Configured{});
  mended.after(Began{});
  mended.after(Streams{});
  BOOST_TEST(mended.after(StopCalled{}) == "GiveReport");
  BOOST_TEST(mended.ordered<GiveReport>().evidence == Evidence(noted));
  BOOST_TEST(mended.after(Noted{}) == "Configure");
  BOOST_TEST(mended.ordered<Configure>().conf == Conf{});
}

BOOST_AUTO_TEST_CASE(a_new_life_with_a_note_is_being_mended) {
  Script node;
  BOOST_TEST(node.after(Loaded{noted}) == "");
  BOOST_TEST(node.after(StopCalled{}) == "GiveReport");
  BOOST_TEST(node.ordered<GiveReport>().evidence == Evidence(noted));
  BOOST_TEST(node.after(StartCalled{group, {two, {}, ""}}) == "EndStart, ReadLineage");
  BOOST_TEST(node.after(LineageRead{diverged}) == "End");
  BOOST_TEST(node.after(Ended{}) == "Clone");  // what stands there may be half of something
}

BOOST_AUTO_TEST_CASE(another_source_ends_it_and_it_begins_anew) {
  Script node = rewinding();
  node.after(StopCalled{});
  BOOST_TEST(node.after(StartCalled{{6, three}, {three, {}, ""}}) ==
             "EndStart, Abandon, ReadLineage");
  BOOST_TEST(node.ordered<ReadLineage>().of == three);
  BOOST_TEST(node.after(LineageRead{diverged}) == "End");
  BOOST_TEST(node.after(Ended{}) == "Clone");
}

BOOST_AUTO_TEST_CASE(what_streams_and_is_to_follow_another_is_looked_at_again) {
  Script node = rewinding();
  node.after(Mended{});
  node.after(Configured{});
  node.after(Began{});
  node.after(StopCalled{});
  BOOST_TEST(node.after(StartCalled{{6, three}, {three, {}, ""}}) ==
             "EndStart, Abandon, Configure");
  BOOST_TEST(node.ordered<Configure>().conf == Conf{});
  BOOST_TEST(node.after(Configured{}) == "FinishReplay");
  BOOST_TEST(node.after(Replayed{}) == "Look");
  BOOST_TEST(node.after(Seen{held()}) == "ReadLineage");
}

BOOST_AUTO_TEST_CASE(
    who_does_not_begin_and_knows_not_what_it_held_is_cloned_and_counts_for_nothing) {
  Script node;
  node.after(Loaded{});
  node.after(StopCalled{});
  node.after(Configured{});
  node.after(Failed{"no data"});
  BOOST_TEST(node.after(StartCalled{group, {two, {}, ""}}) == "EndStart, ReadLineage");
  BOOST_TEST(node.after(LineageRead{diverged}) == "End");
  BOOST_TEST(node.after(Ended{}) == "Clone");
  BOOST_TEST(node.after(StopCalled{}) == "GiveReport");
  BOOST_TEST(node.ordered<GiveReport>().evidence == Evidence(Nothing{}));
}

// Two such nodes, and nobody would ever write again. Found by the lab.
BOOST_AUTO_TEST_CASE(and_begins_what_is_there_where_nobody_writes) {
  Script node;
  node.after(Loaded{});
  node.after(StopCalled{});
  node.after(Configured{});
  node.after(Failed{"no data"});
  node.after(StartCalled{group, {two, {}, ""}});
  node.after(LineageRead{diverged});
  node.after(StopCalled{});
  BOOST_TEST(node.after(StartCalled{{6, three}, {}}) == "EndStart, Abandon, Configure");
  BOOST_TEST(node.after(Configured{}) == "Begin");
  BOOST_TEST(node.after(Began{}) == "WantElection");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::postgres::test
