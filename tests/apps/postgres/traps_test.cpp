#include "apps/postgres/server/processes.hpp"
#include "apps/postgres/server/tools.hpp"
#include "apps/postgres/trio.hpp"
#include "apps/postgres/watch/watch.hpp"

#include <boost/test/unit_test.hpp>

#include <signal.h>

#include <thread>

/// On real instances: the check finds a setting that breaks the promise, and no longer finds the
/// setting once it is corrected.

namespace muster::postgres::tests {
namespace {

std::vector<Finding> findings(Trio& trio, NodeId node) {
  std::optional<Expected<Facts>> facts;
  const FactsRead read(trio.io.get_executor(), trio.options(node),
                       [&](Expected<Facts> heard) { facts.emplace(std::move(heard)); });
  trio.run_until([&] { return facts.has_value(); });
  BOOST_REQUIRE_MESSAGE(*facts, facts->error().what);
  return check(**facts);
}

/// The topics of all findings, such as "fsync roles".
std::string found(Trio& trio, NodeId node) {
  std::string about;
  for (const Finding& finding : findings(trio, node))
    about += (about.empty() ? "" : " ") + finding.about;
  return about;
}

/// The sentence of the only finding.
std::string sentence(Trio& trio, NodeId node) {
  const auto all = findings(trio, node);
  BOOST_REQUIRE_EQUAL(all.size(), 1U);
  return all[0].sentence;
}

/// A server that was started by hand, not by a node.
class ByHand {
 public:
  ByHand(Trio& trio, NodeId node, const std::map<std::string, std::string>& settings)
      : data_(trio.options(node).data) {
    const InstanceOptions options = trio.options(node);
    BOOST_REQUIRE(write_durably(conf_path(options), conf_text(options, {})));
    auto program = program_of(options, "postgres", postmaster_arguments(options));
    for (const auto& [name, value] : settings) {
      program.arguments.emplace_back("-c");
      program.arguments.push_back(name + "=" + value);
    }
    program.output = log_path(options);
    process_.emplace(*launch_from_lasting_thread(program));
    Client client = trio.client(node);
    trio.run_until([&] { return client.ask("SELECT 1").has_value(); });
  }
  ByHand(const ByHand&) = delete;
  ByHand& operator=(const ByHand&) = delete;
  ~ByHand() {
    ::kill(process_->pid(), SIGQUIT);
    process_->wait();
    while (!processes_on(data_).empty()) std::this_thread::yield();
  }

 private:
  std::filesystem::path data_;
  std::optional<apps::Process> process_;
};

/// The findings about a server that was started by hand with these settings.
std::string found_by_hand(Trio& trio, const std::map<std::string, std::string>& settings) {
  const ByHand server(trio, n1, settings);
  return found(trio, n1);
}

BOOST_FIXTURE_TEST_CASE(settings_of_roles_and_databases_do_not_reach_own_sessions, Led,
                        *on_postgres) {
  Client client = trio.client(n1);
  const auto ask = [&](const std::string& statement) {
    const auto answer = client.ask(statement);
    BOOST_REQUIRE_MESSAGE(answer, statement << ": " << answer.error().what);
  };
  ask("CREATE ROLE plain");
  for (const std::string setting :
       {"default_transaction_isolation = serializable", "default_transaction_deferrable = on",
        "role = plain", "intervalstyle = iso_8601", "bytea_output = escape",
        "standard_conforming_strings = off", "local_preload_libraries = absent",
        "temp_tablespaces = absent", "idle_in_transaction_session_timeout = 1"})
    ask("ALTER DATABASE postgres SET " + setting);
  ask("ALTER ROLE postgres SET session_preload_libraries = absent");
  BOOST_TEST(!trio.client(n1).ask("SELECT 1"));  // a client cannot even connect
  Client own(trio.io, session_parameters(trio.options(n1), n1));
  BOOST_TEST(own.value("SELECT concat_ws(', ', current_user,"
                       " current_setting('transaction_isolation'), INTERVAL '1 day', '\\',"
                       " '\\x61'::bytea)") == "postgres, read committed, 1 day, \\, \\x61");
  BOOST_TEST(found(trio, n1) == "");
}

BOOST_FIXTURE_TEST_CASE(settings_of_roles_and_databases_are_found_while_they_stand, Led,
                        *on_postgres) {
  BOOST_TEST(found(trio, n1) == "");
  BOOST_TEST(found(trio, n2) == "");
  Client client = trio.client(n1);
  const auto ask = [&](const std::string& statement) {
    const auto answer = client.ask(statement);
    BOOST_REQUIRE_MESSAGE(answer, statement << ": " << answer.error().what);
  };
  ask("CREATE ROLE \"App\" LOGIN");
  for (const std::string of : {"ROLE \"App\"", "ROLE \"App\" IN DATABASE postgres",
                               "DATABASE postgres", "ROLE ALL", "ROLE postgres"}) {
    BOOST_TEST_CONTEXT(of) {
      ask("ALTER " + of + " SET synchronous_commit = local");
      BOOST_TEST(found(trio, n1) == "synchronous_commit");
      // Running the cure removes the finding.
      const std::string said = sentence(trio, n1);
      BOOST_TEST(said.find("ALTER " + of + " RESET synchronous_commit") != std::string::npos, said);
      ask(said.substr(said.find("ALTER ")));
      BOOST_TEST(found(trio, n1) == "");
    }
  }
  ask("ALTER ROLE \"App\" SET synchronous_commit = remote_apply");
  ask("CREATE ROLE idle REPLICATION");
  BOOST_TEST(found(trio, n1) == "");
  for (const std::string may : {"REPLICATION", "SUPERUSER"}) {
    ask("ALTER ROLE \"App\" " + may);
    BOOST_TEST(found(trio, n1) == "roles");
    const std::string said = sentence(trio, n1);
    BOOST_TEST(said.find("role \"App\" ") == 0U, said);
    ask(said.substr(said.find("ALTER ")));
    BOOST_TEST(found(trio, n1) == "");
  }
}

BOOST_FIXTURE_TEST_CASE(what_alter_system_takes_from_muster_conf_is_found_before_it_counts, Led,
                        *on_postgres) {
  for (const NodeId node : {n1, n2}) {
    Client client = trio.client(node);
    for (const std::string& name : settings_of_muster) {
      const std::string value = name == "default_transaction_read_only" ? "off" : "''";
      BOOST_REQUIRE(client.ask("ALTER SYSTEM SET " + name + " = " + value));
      BOOST_TEST(found(trio, node) == name);
      BOOST_REQUIRE(client.ask("ALTER SYSTEM RESET " + name));
      BOOST_TEST(found(trio, node) == "");
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_replay_that_is_paused_is_found, Led, *on_postgres) {
  Client client = trio.client(n2);
  BOOST_REQUIRE(client.ask("SELECT pg_wal_replay_pause()"));
  BOOST_TEST(found(trio, n2) == "replay");
  BOOST_TEST(found(trio, n1) == "");
  BOOST_REQUIRE(client.ask("SELECT pg_wal_replay_resume()"));
  BOOST_TEST(found(trio, n2) == "");
}

BOOST_FIXTURE_TEST_CASE(settings_of_a_server_are_found, Down, *on_postgres) {
  BOOST_TEST(found_by_hand(trio, {}) == "");
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"fsync", "off"},
           {"full_page_writes", "off"},
           {"synchronous_commit", "remote_write"},
           {"restore_command", "false"},
           {"recovery_min_apply_delay", "5s"},
           {"superuser_reserved_connections", "0"},
           {"log_min_messages", "fatal"},
       })
    BOOST_TEST(found_by_hand(trio, {{name, value}}) == name);
}

BOOST_FIXTURE_TEST_CASE(a_database_without_hints_and_checksums_is_found, Down, *on_postgres) {
  const std::map<std::string, std::string> without_hints{{"wal_log_hints", "off"}};
  BOOST_TEST(found_by_hand(trio, without_hints) == "");
  trio.expect<Began>(n1, Begin{});
  trio.expect<Ended>(n1, End{Shutdown::fast});
  std::optional<Expected<>> ended;
  const InstanceOptions options = trio.options(n1);
  const Tool tool(trio.io.get_executor(),
                  program_of(options, "pg_checksums", {"--disable", options.data.string()}),
                  [&](const Expected<>& outcome) { ended = outcome; });
  trio.run_until([&] { return ended.has_value(); });
  BOOST_REQUIRE_MESSAGE(*ended, ended->error().what);
  BOOST_TEST(found_by_hand(trio, {}) == "");
  BOOST_TEST(found_by_hand(trio, without_hints) == "wal_log_hints");
}

BOOST_FIXTURE_TEST_CASE(a_standby_that_has_less_than_its_primary_is_found_and_starts_with_more, Led,
                        *on_postgres) {
  trio.expect<Ended>(n1, End{Shutdown::fast});
  std::map<std::string, std::string> more;
  for (const std::string& name : settings_of_primary) more[name] = "200";
  const ByHand primary(trio, n1, more);
  BOOST_TEST(found(trio, n1) == "");
  // The primary's log contains the new values, so the replay of the standby pauses.
  std::string all;
  for (const auto& [name, value] : more) all += (all.empty() ? "" : " ") + name;
  trio.run_until([&] { return found(trio, n2) == all; });
  BOOST_TEST(findings(trio, n2)[0].sentence.find(
                 "max_connections is 100 here but 200 at the primary, so replay pauses") == 0U);
  trio.expect<Ended>(n2, End{Shutdown::immediate});
  trio.expect<Began>(n2, Begin{});
  for (const auto& [name, value] : more) {
    BOOST_TEST(trio.client(n2).value("SHOW " + name) == value);
    BOOST_TEST(trio.told[n2].find(name + " is 200 here while") != std::string::npos);
  }
}

// Replay pauses on a timeline between that of the standby and that of the primary. Until replay
// goes on, the standby receives nothing, so the marker does not come either.
BOOST_FIXTURE_TEST_CASE(a_standby_that_has_less_than_its_primary_ends_while_it_waits_for_the_marker,
                        WithTable, *on_postgres) {
  const GroupNumber next{3, n3};
  trio.let_catch_up(n1);
  trio.stop(n2, false);
  BOOST_REQUIRE(trio.client(n1).ask("SET default_transaction_read_only = off"));
  BOOST_REQUIRE(trio.client(n1).ask("ALTER SYSTEM SET max_connections = 200"));
  for (const GroupNumber& group : {GroupNumber{2, n3}, next}) {
    trio.expect<Ended>(n1, End{Shutdown::immediate});
    trio.expect<Began>(n1, Begin{});
    trio.lead(n1, group);
  }
  trio.expect<Configured>(n2, Configure{{false, n1, false, next}});
  trio.expect_failure(n2, AwaitMarker{next, n1});
  BOOST_TEST(trio.told[n2].find("replay is paused, because max_connections is 100 here and 200 at "
                                "node 1: PostgreSQL starts again") != std::string::npos);
  trio.expect<Began>(n2, Begin{});
  BOOST_TEST(trio.client(n2).value("SHOW max_connections") == "200");
  trio.expect<MarkerHeld>(n2, AwaitMarker{next, n1});
}

BOOST_AUTO_TEST_CASE(a_cluster_of_two_databases_is_found, *on_postgres) {
  Trio two(2);
  BOOST_TEST(found_by_hand(two, {}) == "nodes");
}

BOOST_FIXTURE_TEST_CASE(who_watches_says_what_is_new_once_and_again_when_it_comes_back, Led,
                        *on_postgres) {
  InstanceOptions options = trio.options(n1);
  options.between_checks = 10ms;
  std::map<std::string, unsigned>
      told;  // how often each finding was reported, by the beginning of its sentence
  Watch watch(trio.io.get_executor(), options, [&](const std::string& sentence) {
    ++told[sentence.substr(0, sentence.find(" may replicate"))];
  });
  Client client = trio.client(n1);
  const auto tell_of = [&](const std::string& role) {
    BOOST_REQUIRE(client.ask("CREATE ROLE " + role + " LOGIN REPLICATION"));
    trio.run_until([&] { return told["role " + role] > 0; });
  };
  watch.begin();
  tell_of("one");
  tell_of("two");
  tell_of("three");
  BOOST_TEST(told["role one"] == 1U);
  BOOST_TEST(told["role two"] == 1U);
  // When the watch reports the role `four`, it has also seen that the role `one` is gone.
  BOOST_REQUIRE(client.ask("DROP ROLE one"));
  tell_of("four");
  BOOST_REQUIRE(client.ask("CREATE ROLE one LOGIN REPLICATION"));
  trio.run_until([&] { return told["role one"] == 2U; });
  // A watch that is stopped and started again still knows which findings it has reported.
  watch.stop();
  watch.begin();
  tell_of("five");
  BOOST_TEST(told["role one"] == 2U);
  BOOST_TEST(told["role two"] == 1U);
  trio.expect<Ended>(n1, End{Shutdown::immediate});
  const auto silent = [](const auto& one) {
    return one.first.find("cannot read the settings of node 1's PostgreSQL: ") == 0;
  };
  trio.run_until([&] { return std::any_of(told.begin(), told.end(), silent); });
  BOOST_TEST(told["role two"] == 1U);
}

}  // namespace
}  // namespace muster::postgres::tests
