#include "apps/postgres/server/marker.hpp"
#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/tools.hpp"
#include "apps/postgres/server/wal.hpp"
#include "apps/postgres/trio.hpp"

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>

/// Markers in the logs of real servers: which one a node finds, and which ones do not count.

namespace muster::postgres::tests {
namespace {

namespace fs = std::filesystem;

constexpr GroupNumber group_1{1, n3}, group_2{2, n3};

/// The log of a running server.
struct Log {
  fs::path pg_wal;
  MarkedDatabase database;
  std::uint32_t timeline{};
  Lsn end;
};

Log log_of(Trio& trio, NodeId node) {
  Client client = trio.client(node);
  Log log;
  log.pg_wal = trio.options(node).data / "pg_wal";
  log.database = {trio.options(node).cluster, *system_identifier_in(trio.options(node).data)};
  log.timeline =
      *timeline_in(client.value("SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)"));
  log.end = *parse_lsn(client.value("SELECT pg_current_wal_flush_lsn()"));
  return log;
}

std::optional<Marker> found_in(const Log& log, const MarkerKeys& keys) {
  return greatest_marker(log.pg_wal, keys, log.database, log.timeline, log.end).value();
}

std::optional<Marker> marker_of(Trio& trio, NodeId node) {
  return found_in(log_of(trio, node), trio.options(node).marker_keys);
}

GroupNumber group_found(Trio& trio, NodeId node) {
  const auto marker = marker_of(trio, node);
  return marker ? marker->term.group : GroupNumber{};
}

LogPlace end_of(const Log& log) {
  return place_at(log.pg_wal, log.timeline, log.end).value();
}

/// The texts of all messages in the log, in its order.
std::vector<std::string> texts_in(const Log& log) {
  std::vector<std::string> texts;
  const auto read = read_messages(log.pg_wal, log.timeline, log.end, [&](const auto& file) {
    std::vector<std::string> its;
    for (const LogMessage& message : file.messages) its.push_back(message.text);
    texts.insert(texts.begin(), its.begin(), its.end());
    return true;
  });
  BOOST_REQUIRE(read);
  return texts;
}

void write_message(Client& client, const std::string& text) {
  BOOST_REQUIRE(client.ask("SET synchronous_commit = local"));
  BOOST_REQUIRE(client.ask("SET default_transaction_read_only = off"));
  client.value("SELECT pg_logical_emit_message(true, 'muster', E'" + text + "')");
}

void fill(Client& client, unsigned kilobytes) {
  BOOST_REQUIRE(client.ask("SET synchronous_commit = local"));
  BOOST_REQUIRE(client.ask("SET default_transaction_read_only = off"));
  BOOST_REQUIRE(
      client.ask("SELECT pg_logical_emit_message(true, 'other', repeat('x', 1000))"
                 " FROM generate_series(1, " +
                 std::to_string(kilobytes) + ")"));
}

BOOST_FIXTURE_TEST_CASE(a_primary_and_its_standbys_find_the_marker, Led, *on_postgres) {
  const auto marker = marker_of(trio, n1);
  BOOST_REQUIRE(marker);
  BOOST_TEST(marker->term.group == group_1);
  BOOST_TEST(marker->term.node == n1);
  BOOST_TEST(marker->copies.value() == trio.options(n1).copies());
  trio.expect<MarkerHeld>(n2, AwaitMarker{group_1, n1});
  BOOST_TEST(trio.stop(n2, false).term == marker->term);
}

// A record may go on over the end of a file anywhere, and its header too.
BOOST_FIXTURE_TEST_CASE(a_marker_is_found_wherever_a_file_of_the_log_ends, Led, *on_postgres) {
  Client client = trio.client(n1);
  const MarkerKeys keys = trio.options(n1).marker_keys;
  Marker marker = *marker_of(trio, n1);
  unsigned over_an_end = 0;
  for (unsigned round = 0; round < 60; ++round) {
    constexpr std::uint64_t size = 1U << 20;
    // The file is filled up to a few bytes before its end.
    BOOST_REQUIRE(client.ask("SELECT pg_switch_wal()"));
    const std::uint64_t to_leave = 8 * round;
    while (true) {
      const std::uint64_t left = size - log_of(trio, n1).end.value % size;
      if (left < to_leave + 400) break;
      const std::uint64_t some = std::min<std::uint64_t>(left - to_leave - 300, 900'000);
      write_message(client, "' || repeat('x', " + std::to_string(some * 98 / 100) + ") || '");
    }
    ++marker.term.group.counter;
    const Log log = log_of(trio, n1);
    write_message(client, text_of_marker(keys, log.database, marker, end_of(log)));
    BOOST_TEST_REQUIRE(group_found(trio, n1).counter == marker.term.group.counter);
    over_an_end += log_of(trio, n1).end.value / size > log.end.value / size ? 1 : 0;
  }
  BOOST_TEST(over_an_end > 10U);
}

BOOST_FIXTURE_TEST_CASE(a_marker_of_the_timeline_before_counts_in_its_place, Led, *on_postgres) {
  trio.let_catch_up(n1);
  trio.expect<Ended>(n1, End{Shutdown::immediate});
  trio.stop(n2, false);
  trio.expect<Promoted>(n2, Promote{});
  BOOST_TEST(group_found(trio, n2) == group_1);
  trio.expect<MarkerWritten>(n2, WriteMarker{group_2});
  const auto marker = marker_of(trio, n2);
  BOOST_TEST(marker.value().term.group == group_2);
  BOOST_TEST(marker.value().before == group_1);
}

// Everybody may write a message, and superusers can read markers in the log.
BOOST_FIXTURE_TEST_CASE(messages_of_other_roles_do_not_count, Led, *on_postgres) {
  Client client = trio.client(n1);
  const auto keys = trio.options(n1).marker_keys;
  fill(client, 1500);
  const Log log = log_of(trio, n1);
  Marker greater = *marker_of(trio, n1);
  greater.term.group.counter = 1000;
  const auto other_key = fs::temp_directory_path() / ("muster-key-" + std::to_string(::getpid()));
  BOOST_REQUIRE(write_durably(other_key, new_marker_key()));
  const auto others = MarkerKeys::read(other_key).value();
  fs::remove(other_key);
  const MarkedDatabase of_other_cluster{"another", log.database.system},
      of_other_database{log.database.cluster, log.database.system + 1};
  const LogPlace here = end_of(log);
  const LogPlace before =
      place_at(log.pg_wal, log.timeline, Lsn{log.end.value - longest_way_to_marker - 1}).value();
  LogPlace after = here, in_another_log = here;
  after.at.value += 1'000'000;
  in_another_log.digest = digest_of("the log of a node that was promoted at the same position");
  Marker elsewhere = greater;
  elsewhere.term.timeline += 1;
  const std::string right = text_of_marker(keys, log.database, greater, here);
  std::string changed = right;
  changed.replace(changed.find("1000"), 4, "1001");
  for (const std::string& text : {text_of_marker(others, log.database, greater, here),
                                  text_of_marker(keys, of_other_cluster, greater, here),
                                  text_of_marker(keys, of_other_database, greater, here),
                                  text_of_marker(keys, log.database, greater, before),
                                  text_of_marker(keys, log.database, greater, after),
                                  text_of_marker(keys, log.database, greater, in_another_log),
                                  text_of_marker(keys, log.database, elsewhere, here), changed,
                                  right.substr(0, right.size() - 1), right.substr(1), std::string(),
                                  std::string("\n"), std::string(64, '0') + "\n{}"}) {
    write_message(client, text);
    BOOST_TEST(group_found(trio, n1) == group_1, text);
  }
  write_message(client, right);
  BOOST_TEST(group_found(trio, n1).counter == 1000U);
}

// Two nodes can be promoted at the same position, and begin timelines of the same number. A marker
// of the one log does not count in the other.
BOOST_FIXTURE_TEST_CASE(a_marker_from_the_log_of_another_primary_does_not_count, Led,
                        *on_postgres) {
  trio.let_catch_up(n1);
  trio.expect<Ended>(n1, End{Shutdown::immediate});
  BOOST_TEST(trio.stop(n2, false).lsn == trio.stop(n3, false).lsn);
  for (const NodeId node : {n2, n3}) trio.expect<Promoted>(node, Promote{});
  trio.expect<MarkerWritten>(n3, WriteMarker{group_2});
  const Log theirs = log_of(trio, n3);
  Client client = trio.client(n2);
  BOOST_TEST(log_of(trio, n2).timeline == theirs.timeline);
  for (const std::string& text : texts_in(theirs)) write_message(client, text);
  BOOST_TEST(group_found(trio, n3) == group_2);
  BOOST_TEST(group_found(trio, n2) == group_1);
}

// A copy of an older marker hides the newest one for nobody, wherever it stands.
BOOST_FIXTURE_TEST_CASE(a_copy_of_an_older_marker_hides_no_newer_one, Led, *on_postgres) {
  Client client = trio.client(n1);
  const std::string older = texts_in(log_of(trio, n1)).front();
  trio.expect<MarkerWritten>(n1, WriteMarker{group_2});
  for (unsigned step = 0; step < 12; ++step) {
    write_message(client, older);
    BOOST_TEST(group_found(trio, n1) == group_2);
    fill(client, 200);
  }
}

BOOST_FIXTURE_TEST_CASE(without_a_marker_what_was_recorded_counts_if_the_log_has_it, Led,
                        *on_postgres) {
  trio.expect<MarkerWritten>(n1, WriteMarker{group_2});
  Client client = trio.client(n1);
  for (unsigned round = 0; round < 4; ++round) {
    fill(client, 2000);
    BOOST_REQUIRE(client.ask("CHECKPOINT"));
  }
  for (const auto& entry : fs::directory_iterator(trio.options(n1).data / "pg_wal"))
    if (const std::string name = entry.path().filename();
        name.size() == 24 && name < client.value("SELECT pg_walfile_name(redo_lsn)"
                                                 " FROM pg_control_checkpoint()"))
      fs::remove(entry.path());
  BOOST_TEST(!marker_of(trio, n1));
  BOOST_TEST(trio.stop(n1, true).term.group == group_2);

  Held more = read_held(trio.options(n1)).value().value();
  more.lsn.value += 1'000'000'000;
  BOOST_REQUIRE(write_held(trio.options(n1), more));
  const Seen seen = trio.expect<Seen>(n1, Look{});
  BOOST_TEST(seen.holding.term == Term{});
  BOOST_TEST(seen.at_least.has_value());
}

// pg_resetwal begins a new log at a greater position. Nothing shows how much is missing before it.
BOOST_FIXTURE_TEST_CASE(a_log_that_was_reset_does_not_count, Led, *on_postgres) {
  trio.let_catch_up(n1);
  trio.expect<Ended>(n2, End{Shutdown::fast});
  const auto data = trio.options(n2).data;
  BOOST_REQUIRE(output_of(trio.options(n2), "pg_resetwal", {"-f", "--pgdata", data.string()}));
  BOOST_TEST(was_reset(data / "pg_wal"));
}

// A strange file in the directory of the log does not change how the log is read.
BOOST_FIXTURE_TEST_CASE(other_files_in_the_directory_of_the_log_are_passed_over, Led,
                        *on_postgres) {
  const fs::path pg_wal = trio.options(n1).data / "pg_wal";
  for (const char* name : {"00000001000000AA00000001", "000000010000000000000000"})
    std::ofstream(pg_wal / name) << std::string(16U << 20, '\0');
  BOOST_TEST(group_found(trio, n1) == group_1);
  trio.expect<MarkerWritten>(n1, WriteMarker{group_2});
  BOOST_TEST(group_found(trio, n1) == group_2);
}

// PostgreSQL goes on at the next page after a record that a crash has cut off.
BOOST_FIXTURE_TEST_CASE(a_marker_after_a_broken_record_is_found, Led, *on_postgres) {
  Client client = trio.client(n1);
  BOOST_REQUIRE(client.ask("SELECT pg_switch_wal()"));
  fill(client, 100);
  const std::string file = client.value("SELECT pg_walfile_name(pg_current_wal_flush_lsn())");
  const Lsn broken = log_of(trio, n1).end;
  fill(client, 100);
  trio.expect<MarkerWritten>(n1, WriteMarker{group_2});
  const std::uint64_t in_file = broken.value % (1U << 20);
  std::fstream out(trio.options(n1).data / "pg_wal" / file,
                   std::ios::in | std::ios::out | std::ios::binary);
  out.seekp(static_cast<std::streamoff>(in_file));
  out << std::string(24, '\0') << std::flush;
  BOOST_TEST(group_found(trio, n1) == group_2);
}

BOOST_AUTO_TEST_CASE(rows_count_until_all_nodes_read_markers, *on_postgres) {
  Trio trio;
  const auto system = *system_identifier_in(trio.options(n1).data);
  for (const NodeId node : {n1, n2, n3})
    BOOST_REQUIRE(write_known_terms(trio.options(node), {system, false, {}}));
  trio.begin_group(n1, group_1);
  Client client = trio.client(n1);
  BOOST_REQUIRE(client.ask("SET synchronous_commit = local"));
  BOOST_REQUIRE(client.ask("SET default_transaction_read_only = off"));
  // A primary of the version before writes only a row, which names no database.
  const std::string add =
      "INSERT INTO muster.term (counter, coordinator, node, timeline, lsn,"
      " system) VALUES ($, 3, 1, 1, '0/1', ";
  const auto row = [&](unsigned group, const std::string& of) {
    std::string statement = add + of + ")";
    BOOST_REQUIRE(client.ask(statement.replace(statement.find('$'), 1, std::to_string(group))));
    return trio.stop(n1, true).term.group.counter;
  };
  BOOST_TEST(row(5, "NULL") == 5U);
  BOOST_TEST(row(6, "12345") == 5U);  // it is of another database
  BOOST_REQUIRE(write_known_terms(trio.options(n1), {system, true, {}}));
  BOOST_TEST(row(7, "NULL") == 1U);
}

BOOST_AUTO_TEST_CASE(terms_that_are_known_only_grow) {
  const Marker one{{{1, n1}, n1, 1, {10}}, {}, {}}, two{{{2, n1}, n2, 2, {20}}, {1, n1}, {}},
      other{{{3, n1}, n3, 2, {15}}, {1, n1}, {}}, four{{{4, n1}, n2, 3, {30}}, {2, n1}, {}};
  KnownTerms known{7, false, {four, one}};
  known.markers = {one, four};
  BOOST_TEST(terms_until(known, {4, n1}) == std::vector<Term>{four.term});
  BOOST_TEST(learn(known, {7, false, {two, other}}));
  BOOST_TEST(!learn(known, {7, false, {two}}));
  BOOST_TEST(terms_until(known, {4, n1}) == (std::vector<Term>{one.term, two.term, four.term}));
  BOOST_TEST(terms_until(known, {3, n1}) == (std::vector<Term>{one.term, other.term}));
  BOOST_TEST(terms_until(known, {9, n1}).empty());
  BOOST_TEST(learn(known, {7, true, {}}));
  BOOST_TEST(known.rows_ended);
}

}  // namespace
}  // namespace muster::postgres::tests
