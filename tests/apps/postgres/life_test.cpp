#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/durable.hpp"
#include "apps/postgres/server/processes.hpp"
#include "apps/postgres/trio.hpp"
#include "storage/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

/// The processes and files of an instance, with orders and without.

namespace muster::postgres::tests {
namespace {

BOOST_FIXTURE_TEST_CASE(who_kills_the_postmaster_alone_leaves_nothing_that_works_on, Led,
                        *on_postgres) {
  Client busy = trio.client(n1);
  // A server process in an endless loop does not notice that its postmaster has died.
  busy.put("DO $$ BEGIN LOOP END LOOP; END $$");
  Client other = trio.client(n1);
  trio.run_until([&] {
    return other.value(
               "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'DO%' AND state = "
               "'active'") == "1";
  });
  const auto data = trio.options(n1).data;
  const pid_t postmaster = *trio[n1].pid();
  BOOST_TEST(postmaster_on(data) == postmaster);
  ::kill(postmaster, SIGKILL);
  trio.run_until([&] { return !trio.deaths[n1].empty(); });
  BOOST_TEST(trio.deaths[n1].size() == 1U);
  BOOST_TEST(trio.deaths[n1][0].find("PostgreSQL was ended by signal 9") == 0U);
  BOOST_TEST(processes_on(data).empty());
  BOOST_TEST(std::filesystem::exists(data / "postmaster.pid"));
  BOOST_TEST(!busy.outcome->has_value());
  trio.expect<Began>(n1, Begin{});
}

void write_number(const std::filesystem::path& lock, pid_t number) {
  const auto text = *read_text(lock);
  BOOST_REQUIRE(text);
  std::ofstream(lock) << number << text->substr(text->find('\n'));
}

// If any process of PostgreSQL's user has the process id in a lock file, PostgreSQL takes it for
// the owner of the lock.
BOOST_FIXTURE_TEST_CASE(locks_of_a_dead_server_whose_number_is_anothers_by_now_keep_nobody_out,
                        Down, *on_postgres) {
  trio.expect<Began>(n1, Begin{});
  trio.expect<Began>(n2, Begin{});
  const auto options = trio.options(n1);
  ::kill(*trio[n1].pid(), SIGKILL);
  trio.run_until([&] { return !trio.deaths[n1].empty(); });
  const std::string socket = ".s.PGSQL." + std::to_string(options.nodes.at(n1).port);
  write_number(options.data / "postmaster.pid", *trio[n2].pid());
  write_number(options.sockets / (socket + ".lock"), *trio[n2].pid());
  trio.expect<Began>(n1, Begin{});
}

apps::Descriptor listener_on(const Address& address) {
  apps::Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(listener.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(address.port);
  ::inet_pton(AF_INET, address.host.c_str(), &to.sin_addr);
  BOOST_REQUIRE_EQUAL(::bind(listener.fd(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  BOOST_REQUIRE_EQUAL(::listen(listener.fd(), 1), 0);
  return listener;
}

// If PostgreSQL cannot start for a reason other than its data, a clone does not help. A node that
// knows such a reason keeps its data.
BOOST_FIXTURE_TEST_CASE(who_does_not_begin_tells_whether_its_data_is_why, Down, *on_postgres) {
  const auto options = trio.options(n1);
  const auto failed = [&] { return trio.expect<Failed>(n1, Begin{}); };
  {
    const auto taken = listener_on(options.nodes.at(n1));
    const Failed failure = failed();
    BOOST_TEST(failure.before_data);
    BOOST_TEST(
        failure.why ==
        "PostgreSQL ended with exit code 1: FATAL:  could not create any "
        "TCP/IP sockets (could not bind IPv4 address \"127.0.0.1\": Address already in use); "
        "see " +
            log_path(options).string());
  }
  const auto settings = options.data / "postgresql.conf";
  const auto right = *read_text(settings);
  std::ofstream(settings, std::ios::app) << "shared_buffers = a few\n";
  const Failed wrong_setting = failed();
  BOOST_TEST(wrong_setting.before_data);
  BOOST_TEST(wrong_setting.why.find("postgresql.conf\" line ") != std::string::npos,
             wrong_setting.why);
  std::ofstream(settings) << *right;
  trio.expect<Began>(n1, Begin{});
  trio.expect<Ended>(n1, End{Shutdown::immediate});
  BOOST_TEST(trio.deaths.empty());

  const auto control = options.data / "global/pg_control";
  std::filesystem::rename(control, control.string() + ".away");
  const Failed without_control = failed();
  BOOST_TEST(!without_control.before_data, without_control.why);
  std::filesystem::rename(control.string() + ".away", control);
  // PostgreSQL has no right to create files in this directory. In a directory where PostgreSQL has
  // that right, a standby would wait for its log for ever.
  using std::filesystem::perms;
  std::filesystem::remove_all(options.data / "pg_wal");
  std::filesystem::create_directory(options.data / "pg_wal");
  std::filesystem::permissions(options.data / "pg_wal", perms::owner_read | perms::owner_exec);
  const Failed without_log = failed();
  BOOST_TEST(!without_log.before_data, without_log.why);
}

BOOST_FIXTURE_TEST_CASE(an_order_that_goes_on_when_the_server_dies_fails_and_the_death_is_said,
                        Down, *on_postgres) {
  trio.expect<Began>(n1, Begin{});
  trio.lead(n1, {1, n3});
  std::vector<AnyEvent> heard;
  const auto hear = [&](const KeeperEvent& event) { heard.push_back(event.what); };
  trio[n1].perform({{1'000}, AwaitCopies{Lsn{1ULL << 60}}}, hear);
  trio[n1].perform({{1'000}, Kick{}}, hear);
  trio[n1].perform({{1'001}, WriteNote{}}, hear);
  ::kill(*trio[n1].pid(), SIGQUIT);
  trio.run_until([&] { return !trio.deaths[n1].empty() && heard.size() == 2; });
  // Later orders of the same round are not performed. Orders of another round are performed.
  BOOST_TEST(std::holds_alternative<Failed>(heard.at(0)));
  BOOST_TEST(trio.deaths[n1][0] == "PostgreSQL ended with exit code 0");
  BOOST_TEST(std::holds_alternative<Noted>(heard.at(1)));
  BOOST_TEST(trio.expect_failure(n1, Promote{}) == "PostgreSQL does not run");
}

BOOST_FIXTURE_TEST_CASE(of_what_is_abandoned_nothing_is_heard, Down, *on_postgres) {
  trio.expect<Began>(n1, Begin{});
  trio.lead(n1, {1, n3});
  bool heard = false;
  const auto hear = [&](const KeeperEvent&) { heard = true; };
  trio[n1].perform({{1'000}, AwaitCopies{Lsn{1ULL << 60}}}, hear);
  trio[n1].perform({{1'000}, Kick{}}, hear);
  // At this moment the order may still wait for answers of the server.
  BOOST_REQUIRE(trio.client(n1).ask("SELECT 1"));
  trio[n1].perform({{1'001}, Abandon{}}, hear);
  trio.expect<Kicked>(n1, Kick{});
  trio[n1].perform({{1'002}, End{Shutdown::fast}}, hear);
  BOOST_REQUIRE(trio.client(n2).ask("SELECT 1").has_error());
  trio[n1].perform({{1'003}, Abandon{}}, hear);
  // The server still shuts down after the order was abandoned, and can be started again.
  trio.expect<Began>(n1, Begin{});
  BOOST_TEST(!heard);
  BOOST_TEST(trio.deaths.empty());
}

BOOST_AUTO_TEST_CASE(a_server_that_cannot_begin_says_why, *on_postgres) {
  Trio trio(3, {{"shared_preload_libraries", "nothing_of_that_name"}});
  const std::string why = trio.expect_failure(n1, Begin{});
  BOOST_TEST(why.find("FATAL:  could not access file \"nothing_of_that_name\"") !=
             std::string::npos);
  std::filesystem::remove_all(trio.options(n2).data);
  BOOST_TEST(trio.expect_failure(n2, Begin{}) ==
             "there is no database in " + trio.options(n2).data.string() +
                 ": clone it with muster postgres join, or, in a new cluster, make it with muster "
                 "postgres create");
  BOOST_TEST(trio.deaths.empty());
}

BOOST_FIXTURE_TEST_CASE(another_server_on_the_data_is_left_alone_and_named, Down, *on_postgres) {
  trio.expect<Began>(n1, Begin{});
  Instance other(trio.io.get_executor(), trio.options(n1), [](const KeeperEvent&) {});
  std::optional<AnyEvent> result;
  other.perform({{1}, Begin{}}, [&](const KeeperEvent& event) { result = event.what; });
  trio.run_until([&] { return result.has_value(); });
  BOOST_TEST(std::get<Failed>(*result).why ==
             "another PostgreSQL, process " + std::to_string(*trio[n1].pid()) + ", runs on " +
                 trio.options(n1).data.string() +
                 ": stop it, and disable the service that starts it");
  BOOST_TEST(trio.client(n1).value("SELECT 1") == "1");
}

BOOST_FIXTURE_TEST_CASE(a_session_keeps_its_bound_and_is_silent_once_dropped, Down, *on_postgres) {
  trio.expect<Began>(n1, Begin{});
  std::optional<Session> session;
  std::optional<SqlExpected<Answer>> answer;
  bool heard = false;
  session.emplace(trio.io.get_executor(), trio.of_client(n1));
  session->connect(10s, [&](auto connected) {
    BOOST_REQUIRE(connected);
    session->ask("SELECT pg_sleep(60)", {}, 100ms, [&](auto late) { answer = std::move(late); });
  });
  trio.run_until([&] { return answer.has_value(); });
  BOOST_TEST(answer->error().state == "");
  BOOST_TEST(answer->error().what == "no answer within 100.0 ms");
  BOOST_TEST(!session->idle());

  // The session is destroyed once while it connects, and once while it asks.
  session.emplace(trio.io.get_executor(), trio.of_client(n1));
  session->connect(10s, [&](const auto&) { heard = true; });
  session.reset();
  bool asked = false;
  session.emplace(trio.io.get_executor(), trio.of_client(n1));
  session->connect(10s, [&](const auto&) {
    session->ask("SELECT 1", {}, 10s, [&](const auto&) { heard = true; });
    asked = true;
  });
  trio.run_until([&] { return asked; });
  session.reset();
  BOOST_TEST(trio.client(n1).value("SELECT 1") == "1");
  BOOST_TEST(!heard);

  // No server listens on the socket of node 2.
  std::optional<SqlExpected<>> refused;
  session.emplace(trio.io.get_executor(), trio.of_client(n2));
  session->connect(10s, [&](auto outcome) { refused = std::move(outcome); });
  trio.run_until([&] { return refused.has_value(); });
  BOOST_TEST(refused->error().what.find("connection to server on socket") == 0U);
}

/// The process of a node that will be killed. The process runs this test program again, and reports
/// the path of its database.
[[noreturn]] void be_a_node(int told) {
  Trio trio;
  trio.expect<Began>(n1, Begin{});
  const std::string data = trio.options(n1).data.string();
  if (::write(told, data.data(), data.size()) > 0) ::kill(::getpid(), SIGKILL);
  ::_exit(1);
}

BOOST_AUTO_TEST_CASE(postgresql_ends_with_the_process_of_its_node, *on_postgres) {
  if (const char* const told = std::getenv("MUSTER_TEST_NODE")) be_a_node(std::atoi(told));
  apps::PipeEnds told = *apps::make_pipe();
  apps::ProcessOptions options;
  options.arguments = {"--run_test=postgresql_ends_with_the_process_of_its_node"};
  options.environment = {"MUSTER_TEST_NODE=" + std::to_string(told.write.fd())};
  options.inherited = {told.write.fd()};
  auto node = apps::Process::launch(options);
  BOOST_REQUIRE(node);
  told.write = {};
  std::string data(1000, '\0');
  const ssize_t size = ::read(told.read.fd(), data.data(), data.size());
  BOOST_REQUIRE(size > 0);
  data.resize(static_cast<std::size_t>(size));
  BOOST_TEST(apps::describe_end(node->wait()) == "was ended by signal 9");
  boost::asio::io_context io;
  std::optional<Expected<>> gone;
  const Remains remains(io.get_executor(), data,
                        [&](const Expected<>& outcome) { gone = outcome; });
  while (!gone) io.run_one();
  BOOST_TEST(gone->has_value());
  BOOST_TEST(processes_on(data).empty());
  std::filesystem::remove_all(std::filesystem::path(data).parent_path().parent_path());
}

BOOST_AUTO_TEST_CASE(a_note_that_cannot_be_read_is_a_failure) {
  const muster::test::TemporaryDirectory root;
  InstanceOptions options;
  options.data = root.path() / "data";
  BOOST_TEST(!*read_note(options));
  const Held held{77, {{3, n2}, n1, 4, {500}}, {600}};
  BOOST_REQUIRE(write_note(options, Note{held}));
  BOOST_TEST(**read_note(options) == Note{held});
  std::ofstream(note_path(options), std::ios::app) << "x";
  BOOST_TEST(read_note(options).error().what.find(
                 note_path(options).string() +
                 ", in which this node has recorded the state of its database, cannot be read: ") ==
             0U);
  BOOST_REQUIRE(write_note(options, Note{}));
  BOOST_TEST(**read_note(options) == Note{});
  BOOST_REQUIRE(write_note(options, {}));
  BOOST_TEST(!*read_note(options));
}

BOOST_AUTO_TEST_CASE(muster_conf_says_what_a_node_is) {
  InstanceOptions options;
  options.data = "/d/data";
  options.node = n2;
  options.nodes = {{n1, {"10.0.0.1", 5432}}, {n2, {"10.0.0.2", 5432}}, {n3, {"it's", 5432}}};
  const std::string first =
      "# muster writes this file again with each group. Changes to it are lost.\n";
  const std::string sealed = conf_text(options, {});
  const std::string open = conf_text(options, {true, {}, false, {}});
  BOOST_TEST(sealed.find(first + "primary_conninfo = ''\n"
                                 "primary_slot_name = ''\n"
                                 "default_transaction_read_only = on\n") == 0U,
             sealed);
  BOOST_TEST(open.find(first + "primary_conninfo = ''\n"
                               "primary_slot_name = ''\n"
                               "default_transaction_read_only = off\n") == 0U,
             open);
  BOOST_TEST(sealed.find("\nsynchronous_standby_names = 'ANY 1 (n1, n2, n3)'\n") !=
             std::string::npos);
  BOOST_TEST(sealed.find("\nwal_keep_size = '512MB'\n") != std::string::npos);
  const std::string resyncing = conf_text(options, {false, n3, false, {7, n1}});
  BOOST_TEST(resyncing.find("application_name=''mend_n2''") != std::string::npos);
  BOOST_TEST(resyncing.find("\nprimary_slot_name = 'muster_7_1_n2'\n") != std::string::npos);
  BOOST_TEST(resyncing.find("host=''it\\\\''s''") != std::string::npos, resyncing);
}

}  // namespace
}  // namespace muster::postgres::tests
