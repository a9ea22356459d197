#include "socket_world.hpp"
#include "storage/temporary_directory.hpp"

#include <muster/net/admin.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>

#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/stat.h>

// The admin socket of a node, and its two kinds of clients: the owner on this machine, and
// observers over the network.

using namespace sessions_test;
namespace asio = boost::asio;
using Unix = asio::local::stream_protocol;

BOOST_AUTO_TEST_SUITE(admin)

namespace {

struct Directory : muster::test::TemporaryDirectory {
  [[nodiscard]] std::string socket() const { return (path() / "admin.sock").string(); }
};

/// Runs a context on a thread of its own, so that the test's clients can block the test's thread.
class Running {
 public:
  explicit Running(asio::io_context& context)
      : context_(context), guard_(context.get_executor()), thread_([this] { context_.run(); }) {}
  ~Running() { context_.stop(); }
  /// Runs `work` on that thread and waits for it.
  void there(std::function<void()> work) {
    asio::post(context_, asio::use_future(std::move(work))).get();
  }

 private:
  asio::io_context& context_;
  asio::executor_work_guard<asio::io_context::executor_type> guard_;
  std::jthread thread_;
};

net::Admin::Words words() {
  return {{"status", [](std::string_view) { return std::string("{\"node\":1}"); }},
          {"say", [](std::string_view said) { return "[" + std::string(said) + "]"; }}};
}

int code(const Expected<std::string>& answer) {
  return answer ? 0 : static_cast<int>(answer.error().code);
}

/// An admin socket that is served on a thread of its own.
struct Served {
  Directory directory;
  SocketWorld world;
  net::Admin admin{world.context.get_executor(), directory.socket(), words()};
  Running running{listening()};

  asio::io_context& listening() {
    BOOST_REQUIRE(admin.listen().has_value());
    return world.context;
  }
  /// A client that connects and sends `text`.
  Unix::socket come(const std::string& text) {
    Unix::socket socket(ours);
    socket.connect(Unix::endpoint(directory.socket()));
    asio::write(socket, asio::buffer(text));
    return socket;
  }

  asio::io_context ours;  ///< for the clients
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(the_owner_is_told_the_status, Served) {
  struct stat found {};
  BOOST_REQUIRE(::stat(directory.socket().c_str(), &found) == 0);
  BOOST_TEST((found.st_mode & 0777) == 0600u);
  for (int i = 0; i < 100; ++i) {
    const auto answer = net::ask_admin(directory.socket(), 60s);
    BOOST_REQUIRE(answer.has_value());
    BOOST_TEST(*answer == "{\"node\":1}");
  }
  const auto nothing = net::ask_admin(directory.socket(), 60s, "reboot");
  BOOST_TEST(code(nothing) == 5);
  BOOST_TEST(test::says(nothing.error().what, "reboot"));
  running.there([&] { admin.close(); });
  BOOST_TEST(!std::filesystem::exists(directory.socket()));
}

BOOST_FIXTURE_TEST_CASE(what_stands_behind_a_word_is_given_to_it, Served) {
  BOOST_TEST(net::ask_admin(directory.socket(), 60s, "say").value() == "[]");
  BOOST_TEST(net::ask_admin(directory.socket(), 60s, "say two words").value() == "[two words]");
  BOOST_TEST(code(net::ask_admin(directory.socket(), 60s, "saying so")) == 5);
}

BOOST_FIXTURE_TEST_CASE(who_watches_is_told_of_every_change_in_order, Served) {
  std::vector<std::string> told;
  const auto watched = net::watch_admin(directory.socket(), 60s, [&](const std::string& line) {
    if (told.empty()) {
      running.there([&] {
        BOOST_TEST(admin.is_watched());
        for (int i = 0; i < 100; ++i) admin.tell(std::to_string(i));
      });
    }
    told.push_back(line);
    return line == "99";
  });
  BOOST_TEST(watched.has_value());
  BOOST_REQUIRE(told.size() == 101u);
  BOOST_TEST(told[0] == "{\"node\":1}");
  BOOST_TEST(told[1] == "0");
  BOOST_TEST(told[100] == "99");
  // The client has gone. The node notices this.
  for (bool there = true; there;) running.there([&] { there = admin.is_watched(); });
}

BOOST_FIXTURE_TEST_CASE(who_watches_and_does_not_read_is_sent_away, Served) {
  const Unix::socket sleeps = come("watch\n");
  for (bool there = false; !there;) running.there([&] { there = admin.is_watched(); });
  const std::string line(64 * 1024, 'x');
  int told = 0;
  for (bool there = true; there; ++told)
    running.there([&] {
      admin.tell(line);
      there = admin.is_watched();
    });
  BOOST_TEST(told < 64);  // for the client the node stores up to 1 MiB, beside the system's buffers
  BOOST_TEST(net::ask_admin(directory.socket(), 60s).has_value());
}

// The node bounds the bytes that wait for a client, and the number of clients that watch. A client
// that reads its lines gets all of them.
BOOST_FIXTURE_TEST_CASE(many_who_do_not_read_cost_little_and_keep_nobody_from_being_told, Served) {
  std::vector<Unix::socket> sleeping;
  const auto sleep = [&](int count) {
    for (int i = 0; i < count; ++i) sleeping.push_back(come("watch\n"));
  };
  const std::string line(64 * 1024, 'x');
  int told = 0;
  const auto watched = net::watch_admin(directory.socket(), 60s, [&](const std::string& heard) {
    if (told > 0) BOOST_TEST(heard.size() == line.size());
    if (told == 0) sleep(10);
    if (told == 50) sleep(50);
    if (told == 60) BOOST_TEST(net::ask_admin(directory.socket(), 60s).has_value());
    running.there([&] { admin.tell(line); });
    return ++told == 100;
  });
  BOOST_TEST(watched.has_value());
}

BOOST_FIXTURE_TEST_CASE(a_watch_ends_with_its_time_and_with_the_node, Served) {
  const auto never = [](const std::string&) { return false; };
  const auto in_vain = net::watch_admin(directory.socket(), 20ms, never);
  BOOST_TEST(static_cast<int>(in_vain.error().code) == 7);
  const auto ended = net::watch_admin(directory.socket(), 60s, [&](const std::string&) {
    running.there([&] { admin.close(); });
    return false;
  });
  BOOST_TEST(static_cast<int>(ended.error().code) == 5);
}

BOOST_AUTO_TEST_CASE(a_socket_that_a_dead_process_left_is_replaced) {
  Directory directory;
  SocketWorld world;
  { Unix::acceptor left(world.context, Unix::endpoint(directory.socket())); }
  BOOST_TEST(std::filesystem::exists(directory.socket()));
  net::Admin admin(world.context.get_executor(), directory.socket(), words());
  BOOST_REQUIRE(admin.listen().has_value());
  Running running(world.context);
  BOOST_TEST(net::ask_admin(directory.socket(), 60s).has_value());
}

BOOST_AUTO_TEST_CASE(what_is_no_socket_is_left_alone) {
  Directory directory;
  SocketWorld world;
  std::ofstream(directory.socket()) << "precious";
  net::Admin admin(world.context.get_executor(), directory.socket(), words());
  BOOST_TEST(static_cast<int>(test::failure_of(admin.listen()).code) == 64);
  admin.close();
  BOOST_TEST(std::filesystem::file_size(directory.socket()) == 8u);
}

BOOST_AUTO_TEST_CASE(a_path_that_is_too_long_is_said_with_both_lengths) {
  SocketWorld world;
  const std::string path = "/tmp/" + std::string(200, 'x');
  net::Admin admin(world.context.get_executor(), path, words());
  const Failure failure = test::failure_of(admin.listen());
  BOOST_TEST(static_cast<int>(failure.code) == 64);
  BOOST_TEST(test::says(failure.what, "205"));
  BOOST_TEST(test::says(failure.what, "107"));
  const auto asked = net::ask_admin(path, 60s);
  BOOST_TEST(code(asked) == 64);
  BOOST_TEST(test::says(asked.error().what, "205"));
}

BOOST_FIXTURE_TEST_CASE(who_connects_and_says_nothing_keeps_nobody_out, Served) {
  std::vector<Unix::socket> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(come(""));
  const std::string noise(1000, 'x');
  boost::system::error_code ignored;
  silent.back().write_some(asio::buffer(noise), ignored);
  BOOST_TEST(net::ask_admin(directory.socket(), 60s).has_value());
}

BOOST_AUTO_TEST_CASE(nobody_there_and_nobody_awake_are_told_apart) {
  Directory directory;
  BOOST_TEST(code(net::ask_admin(directory.socket(), 60s)) == 5);
  asio::io_context context;
  Unix::acceptor asleep(context, Unix::endpoint(directory.socket()));
  BOOST_TEST(code(net::ask_admin(directory.socket(), 20ms)) == 7);

  Port port;
  const std::string cluster = Setting{}.cluster;
  BOOST_TEST(code(net::ask_observer(port.address(), cluster, 60s)) == 5);
  const Tcp::acceptor asleep_too(context, port.endpoint());
  BOOST_TEST(code(net::ask_observer(port.address(), cluster, 20ms)) == 7);
  BOOST_TEST(code(net::ask_observer("nowhere", cluster, 20ms)) == 64);
}

BOOST_AUTO_TEST_CASE(an_observer_of_the_cluster_is_told_the_status) {
  SocketWorld world;
  Port first;
  const Listening one(world, 1, addresses({&first}));
  Running running(world.context);
  const auto answer = net::ask_observer(first.address(), Setting{}.cluster, 60s);
  BOOST_REQUIRE(answer.has_value());
  BOOST_TEST(*answer == "{\"node\":1}");
  const auto other = net::ask_observer(first.address(), "T=1s\nname=test\n", 60s);
  BOOST_TEST(code(other) == 64);
  BOOST_TEST(test::says(other.error().what, "the clusters differ"));
  BOOST_TEST(!test::says(other.error().what, "2s"));
}

BOOST_AUTO_TEST_CASE(an_observer_speaks_with_nodes_of_the_next_version_that_speak_its_own) {
  for (const net::WireVersions wire : {net::WireVersions{2, 4}, net::WireVersions{4, 4}}) {
    SocketWorld world;
    Port first;
    const Listening one(world, 1, addresses({&first}), {.wire = wire});
    Running running(world.context);
    const auto answer = net::ask_observer(first.address(), Setting{}.cluster, 60s);
    BOOST_TEST(answer.has_value() == (wire.oldest == 2));
    if (!answer)
      BOOST_TEST(test::says(answer.error().what, "do not meet (4 at node 1, 2-3 at the observer)"));
  }
}

BOOST_AUTO_TEST_SUITE_END()
