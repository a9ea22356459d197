#include "apps/postgres/decide/check.hpp"
#include "apps/postgres/script.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <vector>

// Findings from facts. Each finding is one sentence with its consequence and the cure.

namespace muster::postgres::test {
namespace {

/// The facts of a standby that is set correctly.
Facts right() {
  Facts facts;
  facts.version = 150013;
  facts.standby = true;
  facts.databases = 3;
  facts.settings = {{"synchronous_commit", "on"},      {"fsync", "on"},
                    {"full_page_writes", "on"},        {"wal_log_hints", "on"},
                    {"data_checksums", "on"},          {"restore_command", ""},
                    {"recovery_min_apply_delay", "0"}, {"superuser_reserved_connections", "3"}};
  for (const auto& name : settings_of_primary) {
    facts.settings[name] = "100";
    facts.least[name] = 100;
  }
  for (const auto& name : settings_of_muster) facts.places[name] = "/d/../muster.conf line 2";
  return facts;
}

/// The only finding, as "about: sentence".
std::string only(const Facts& facts) {
  const auto found = check(facts);
  BOOST_REQUIRE_EQUAL(found.size(), 1U);
  return found[0].about + ": " + found[0].sentence;
}

/// The only finding about a standby that is set correctly except for this one setting.
std::string with(const std::string& name, const std::string& value) {
  Facts facts = right();
  facts.settings[name] = value;
  return only(facts);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(checked)

BOOST_AUTO_TEST_CASE(a_primary_whom_too_few_follow_is_found) {
  Facts facts = right();
  facts.standby = false;
  facts.copies = 3;
  facts.followers = 1;
  BOOST_TEST(only(facts) ==
             "copies: this primary has only 1 of the 2 followers that each commit needs, so no "
             "commit is acknowledged; see muster postgres status, and make sure that the other "
             "nodes reach PostgreSQL's port here");
  facts.followers = 2;
  BOOST_TEST(check(facts).empty());
}

BOOST_AUTO_TEST_CASE(a_slot_that_a_primary_of_before_has_kept_is_found) {
  Facts facts = right();
  facts.unread_slots = {"subscriber"};
  BOOST_TEST(
      only(facts) ==
      "slots: no client reads the replication slot subscriber of this standby, perhaps since "
      "it was the primary: the slot keeps all WAL, which may fill the disk; run SELECT "
      "pg_drop_replication_slot('subscriber')");
}

BOOST_AUTO_TEST_CASE(what_is_set_as_it_is_to_be_is_not_complained_of) {
  BOOST_TEST(check(right()).empty());
  Facts facts = right();
  facts.settings["synchronous_commit"] = "remote_apply";
  facts.synchronous_commit = {{"app", "", "TRUE"}, {"", "shop", "1"}, {"", "", "remote_apply"}};
  // A rewind needs only one of wal_log_hints and checksums.
  facts.settings["wal_log_hints"] = "off";
  BOOST_TEST(check(facts).empty());
  facts.settings["wal_log_hints"] = "on";
  facts.settings["data_checksums"] = "off";
  BOOST_TEST(check(facts).empty());
  // The settings of a primary can be smaller than those in its control file, since a primary has no
  // replay that could pause.
  facts.standby = false;
  facts.replay_paused = true;
  facts.settings["max_connections"] = "50";
  BOOST_TEST(check(facts).empty());
}

BOOST_AUTO_TEST_CASE(a_version_that_is_too_old_or_was_not_tried) {
  Facts facts = right();
  facts.version = 150012;
  BOOST_TEST(only(facts) ==
             "version: PostgreSQL is 15.12: before 15.13 a commit right after the server's start "
             "may be acknowledged without a copy; install a newer minor version");
  facts.version = 150020;
  BOOST_TEST(check(facts).empty());
  // If the major version is another one, no other setting is checked.
  Facts other;
  other.version = 160002;
  other.databases = 3;
  BOOST_TEST(only(other) ==
             "version: PostgreSQL is 16.2, but Muster was tested only with 15: nothing else is "
             "checked; install PostgreSQL 15");
  other.version = 140018;
  BOOST_TEST(check(other).size() == 1U);
}

BOOST_AUTO_TEST_CASE(commits_that_wait_for_no_copy) {
  BOOST_TEST(with("synchronous_commit", "local") ==
             "synchronous_commit: synchronous_commit is local: commits are acknowledged before "
             "another node has them; set it to on");
  const auto of = [](const OfSome& some) {
    Facts facts = right();
    facts.synchronous_commit = {some};
    return only(facts);
  };
  BOOST_TEST(of({"app", "", "off"}) ==
             "synchronous_commit: synchronous_commit is off for role app: commits are acknowledged "
             "before another node has them; run ALTER ROLE app RESET synchronous_commit");
  BOOST_TEST(says(of({"", "shop", "remote_write"}), "is remote_write for database shop: "));
  BOOST_TEST(says(of({"", "shop", "No"}), "; run ALTER DATABASE shop RESET synchronous_commit"));
  BOOST_TEST(says(of({"app", "shop", "0"}), "is 0 for role app in database shop: "));
  BOOST_TEST(says(of({"app", "shop", "0"}), "; run ALTER ROLE app IN DATABASE shop RESET"));
  BOOST_TEST(says(of({"", "", "false"}), "is false for all roles: "));
  BOOST_TEST(says(of({"", "", "false"}), "; run ALTER ROLE ALL RESET synchronous_commit"));
}

BOOST_AUTO_TEST_CASE(another_role_that_may_follow) {
  Facts facts = right();
  facts.replicates = {{"backup", false}};
  BOOST_TEST(only(facts) ==
             "roles: role backup may replicate: a client of this role could follow under the name "
             "of a node and count as that node's copy; run ALTER ROLE backup NOREPLICATION");
  facts.replicates = {{"boss", true}};
  BOOST_TEST(only(facts) ==
             "roles: role boss is a superuser and may replicate: a client of this role could "
             "follow under the name of a node and count as that node's copy; run ALTER ROLE boss "
             "NOSUPERUSER NOREPLICATION");
}

BOOST_AUTO_TEST_CASE(what_counts_for_more_than_muster_conf) {
  for (const auto& name : settings_of_muster) {
    Facts facts = right();
    facts.places[name] = "/d/data/postgresql.auto.conf line 3";
    BOOST_TEST(only(facts) ==
               name + ": " + name +
                   " comes from /d/data/postgresql.auto.conf line 3, which overrides muster.conf: "
                   "Muster cannot tell this node whom to follow, or whether it takes writes; run "
                   "ALTER SYSTEM RESET " +
                   name + ", or remove that line");
  }
  Facts facts = right();
  facts.places.clear();
  BOOST_TEST(check(facts).size() == settings_of_muster.size());
  BOOST_TEST(check(facts)[0].sentence ==
             "primary_conninfo is set in no settings file, so muster.conf is not read; make "
             "\"include_if_exists '../muster.conf'\" the last line of postgresql.conf");
}

BOOST_AUTO_TEST_CASE(what_makes_commits_count_without_a_copy) {
  Facts facts = right();
  facts.impostors = {{"n2", "10.0.0.9", 4711}};
  BOOST_TEST(
      only(facts) ==
      "copies: process 4711 serves a client at 10.0.0.9 that calls itself n2 and is not that "
      "node, so commits may be acknowledged that no node has a copy of; end it with SELECT "
      "pg_terminate_backend(4711), and let no role but Muster's replicate");
  facts.impostors = {{"muster_alone", "", 4711}};
  BOOST_TEST(says(only(facts), "a client on this machine that calls itself muster_alone"));
  facts = right();
  facts.foreign_names = "";
  BOOST_TEST(says(only(facts), "synchronous_standby_names, which is now '': commits may be"));
}

BOOST_AUTO_TEST_CASE(settings_by_which_something_is_lost_or_a_fail_over_fails) {
  BOOST_TEST(with("fsync", "off") ==
             "fsync: fsync is off: a power cut may lose acknowledged commits; set it to on");
  const std::vector<std::array<std::string, 3>> settings = {
      {"full_page_writes", "off", "off: "},
      {"superuser_reserved_connections", "0", "0: "},
      {"restore_command", "cp /a/%f %p", "set: a standby would replay WAL that"},
      {"recovery_min_apply_delay", "5000", "5000 ms: "},
      {"log_min_messages", "panic", "panic: postgres.log does not say "}};
  for (const auto& [name, value, said] : settings)
    BOOST_TEST(with(name, value).starts_with(name + ": " + name + " is " + said), name);
  Facts facts = right();
  facts.settings["log_min_messages"] = "log";
  BOOST_TEST(check(facts).empty());
  facts.settings["wal_log_hints"] = facts.settings["data_checksums"] = "off";
  BOOST_TEST(
      only(facts) ==
      "wal_log_hints: wal_log_hints is off, and the database has no checksums: a node with more "
      "WAL than its primary cannot be rewound and has to be cloned; set wal_log_hints to on");
}

BOOST_AUTO_TEST_CASE(a_standby_that_does_not_replay) {
  Facts facts = right();
  facts.replay_paused = true;
  BOOST_TEST(only(facts) ==
             "replay: replay is paused: this node cannot be sealed in time, and its PostgreSQL is "
             "shut down in the next election; run SELECT pg_wal_replay_resume()");
}

BOOST_AUTO_TEST_CASE(a_standby_that_has_less_than_its_primary) {
  const std::string means =
      " is 99 here but 100 at the primary, so replay pauses: this node starts its PostgreSQL again "
      "with the greater value; set it to 100 or more in postgresql.conf, too";
  Facts facts = right();
  for (const auto& name : settings_of_primary) {
    BOOST_TEST(with(name, "99") == name + ": " + name + means);
    facts.settings[name] = "99";
  }
  // The cure of a paused replay would end PostgreSQL here.
  facts.replay_paused = true;
  BOOST_TEST(check(facts).size() == settings_of_primary.size());
  facts = right();
  facts.settings["max_connections"] = "1000";
  BOOST_TEST(check(facts).empty());
}

BOOST_AUTO_TEST_CASE(a_cluster_that_is_too_small) {
  Facts facts = right();
  facts.databases = 2;
  BOOST_TEST(only(facts) ==
             "nodes: the cluster has 2 databases, so nobody can write when one of them is lost; "
             "run three nodes");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::postgres::test
