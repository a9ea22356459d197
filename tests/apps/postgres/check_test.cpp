#include "apps/postgres/decide/check.hpp"
#include "apps/postgres/script.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <vector>

// What is found in facts: each is one sentence, with what comes of it and the cure.

namespace muster::postgres::test {
namespace {

/// Of a standby that is set as it is to be.
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

/// "about: sentence", of the only one.
std::string only(const Facts& facts) {
  const auto found = check(facts);
  BOOST_REQUIRE_EQUAL(found.size(), 1U);
  return found[0].about + ": " + found[0].sentence;
}

/// Where one setting is another.
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
             "copies: only 1 of the 2 other nodes that each commit waits for follow this primary: "
             "none is acknowledged; see muster postgres status, and that the others reach its "
             "port");
  facts.followers = 2;
  BOOST_TEST(check(facts).empty());
}

BOOST_AUTO_TEST_CASE(a_slot_that_a_primary_of_before_has_kept_is_found) {
  Facts facts = right();
  facts.unread_slots = {"subscriber"};
  BOOST_TEST(only(facts) ==
             "slots: nobody reads the replication slot subscriber of this standby, maybe of when "
             "it was primary, and it keeps all log from being removed: SELECT "
             "pg_drop_replication_slot('subscriber')");
}

BOOST_AUTO_TEST_CASE(what_is_set_as_it_is_to_be_is_not_complained_of) {
  BOOST_TEST(check(right()).empty());
  Facts facts = right();
  facts.settings["synchronous_commit"] = "remote_apply";
  facts.synchronous_commit = {{"app", "", "TRUE"}, {"", "shop", "1"}, {"", "", "remote_apply"}};
  // One of both is enough for a rewind.
  facts.settings["wal_log_hints"] = "off";
  BOOST_TEST(check(facts).empty());
  facts.settings["wal_log_hints"] = "on";
  facts.settings["data_checksums"] = "off";
  BOOST_TEST(check(facts).empty());
  // A primary may have less than its control file says, and pauses nothing.
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
             "may wait for no copy; install a newer minor version");
  facts.version = 150020;
  BOOST_TEST(check(facts).empty());
  // Of another nothing else is known.
  Facts other;
  other.version = 160002;
  other.databases = 3;
  BOOST_TEST(only(other) ==
             "version: PostgreSQL is 16.2, and what was tried is 15: nothing else of it is looked "
             "at; install PostgreSQL 15");
  other.version = 140018;
  BOOST_TEST(check(other).size() == 1U);
}

BOOST_AUTO_TEST_CASE(commits_that_wait_for_no_copy) {
  BOOST_TEST(with("synchronous_commit", "local") ==
             "synchronous_commit: synchronous_commit is local: commits are acknowledged that no "
             "other node may hold; set it to on");
  const auto of = [](const OfSome& some) {
    Facts facts = right();
    facts.synchronous_commit = {some};
    return only(facts);
  };
  BOOST_TEST(of({"app", "", "off"}) ==
             "synchronous_commit: synchronous_commit is off for role app: commits are acknowledged "
             "that no other node may hold; ALTER ROLE app RESET synchronous_commit");
  BOOST_TEST(says(of({"", "shop", "remote_write"}), "is remote_write for database shop: "));
  BOOST_TEST(says(of({"", "shop", "No"}), "; ALTER DATABASE shop RESET synchronous_commit"));
  BOOST_TEST(says(of({"app", "shop", "0"}), "is 0 for role app in database shop: "));
  BOOST_TEST(says(of({"app", "shop", "0"}), "; ALTER ROLE app IN DATABASE shop RESET"));
  BOOST_TEST(says(of({"", "", "false"}), "is false for all roles: "));
  BOOST_TEST(says(of({"", "", "false"}), "; ALTER ROLE ALL RESET synchronous_commit"));
}

BOOST_AUTO_TEST_CASE(another_role_that_may_follow) {
  Facts facts = right();
  facts.replicates = {{"backup", false}};
  BOOST_TEST(only(facts) ==
             "roles: role backup may replicate: whoever follows under a node's name counts as its "
             "copy; ALTER ROLE backup NOREPLICATION");
  facts.replicates = {{"boss", true}};
  BOOST_TEST(only(facts) ==
             "roles: role boss is a superuser, and may replicate: whoever follows under a node's "
             "name counts as its copy; ALTER ROLE boss NOSUPERUSER NOREPLICATION");
}

BOOST_AUTO_TEST_CASE(what_counts_for_more_than_muster_conf) {
  for (const auto& name : settings_of_muster) {
    Facts facts = right();
    facts.places[name] = "/d/data/postgresql.auto.conf line 3";
    BOOST_TEST(only(facts) ==
               name + ": " + name +
                   " comes from /d/data/postgresql.auto.conf line 3, which counts for more than "
                   "muster.conf: this node can be neither sealed nor opened; ALTER SYSTEM RESET " +
                   name + ", or take that line out");
  }
  Facts facts = right();
  facts.places.clear();
  BOOST_TEST(check(facts).size() == settings_of_muster.size());
  BOOST_TEST(check(facts)[0].sentence ==
             "synchronous_standby_names is in no file of settings: muster.conf is not read; let "
             "\"include_if_exists '../muster.conf'\" be the last line of postgresql.conf");
}

BOOST_AUTO_TEST_CASE(settings_by_which_something_is_lost_or_a_fail_over_fails) {
  BOOST_TEST(with("fsync", "off") ==
             "fsync: fsync is off: what was acknowledged may be lost with the power; set it to on");
  const std::vector<std::array<std::string, 3>> settings = {
      {"full_page_writes", "off", "off: "},
      {"superuser_reserved_connections", "0", "0: "},
      {"restore_command", "cp /a/%f %p", "set: a standby would replay log that"},
      {"recovery_min_apply_delay", "5000", "5000 ms: "},
      {"log_min_messages", "panic", "panic: postgres.log does not say "}};
  for (const auto& [name, value, said] : settings)
    BOOST_TEST(with(name, value).starts_with(name + ": " + name + " is " + said), name);
  Facts facts = right();
  facts.settings["log_min_messages"] = "log";
  BOOST_TEST(check(facts).empty());
  facts.settings["wal_log_hints"] = facts.settings["data_checksums"] = "off";
  BOOST_TEST(only(facts) ==
             "wal_log_hints: wal_log_hints is off, and the database has no checksums: who has more "
             "than its primary cannot be rewound, and is cloned; set wal_log_hints to on");
}

BOOST_AUTO_TEST_CASE(a_standby_that_does_not_replay) {
  Facts facts = right();
  facts.replay_paused = true;
  BOOST_TEST(only(facts) ==
             "replay: replay is paused: this node is not sealed in time, and is shut down at the "
             "next stop; SELECT pg_wal_replay_resume()");
}

BOOST_AUTO_TEST_CASE(a_standby_that_has_less_than_its_primary) {
  for (const auto& name : settings_of_primary)
    BOOST_TEST(with(name, "99") ==
               name + ": " + name +
                   " is 99 here and 100 at the primary: replay pauses, and PostgreSQL does not "
                   "start any more; set it to 100 or more, and restart this node");
  Facts facts = right();
  facts.settings["max_connections"] = "1000";
  BOOST_TEST(check(facts).empty());
}

BOOST_AUTO_TEST_CASE(a_cluster_that_is_too_small) {
  Facts facts = right();
  facts.databases = 2;
  BOOST_TEST(only(facts) ==
             "nodes: the cluster has 2 databases: the loss of either ends all writing; have three "
             "nodes");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::postgres::test
