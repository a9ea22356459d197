#include "real_nodes.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>

// The messages that a node sends to systemd if systemd has started it. The test plays systemd's
// socket.

namespace muster::apps {
namespace {

/// The socket that NOTIFY_SOCKET names.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& name)
      : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name.front() == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    BOOST_REQUIRE(::bind(socket_.fd(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  }
  /// Waits for a datagram that contains `text`. Returns all datagrams that came up to this one.
  std::string await(const std::string& text) {
    std::string all;
    std::string one;
    while (one.find(text) == std::string::npos) {
      one.resize(4096);
      const ssize_t size = ::recv(socket_.fd(), one.data(), one.size(), 0);
      BOOST_REQUIRE(size > 0);
      one.resize(static_cast<std::size_t>(size));
      all += one + '\n';
    }
    return all;
  }

 private:
  Descriptor socket_;
};

struct Supervised : RealNodes {
  Supervised() : RealNodes(1) {}
  Process begin(const std::vector<std::string>& words, std::vector<std::string> environment) const {
    auto options = muster_with(words, log(1));
    options.environment = std::move(environment);
    auto process = Process::launch(options);
    BOOST_REQUIRE(process.has_value());
    return std::move(*process);
  }
  /// The value of JOURNAL_STREAM for a process whose standard error is the log file. By this
  /// variable systemd tells a process that its standard error is the journal.
  [[nodiscard]] std::string journal_stream() const {
    write_file(log(1), "");
    struct stat about {};
    BOOST_REQUIRE(::stat(log(1).c_str(), &about) == 0);
    return "JOURNAL_STREAM=" + std::to_string(about.st_dev) + ':' + std::to_string(about.st_ino);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(supervised, Supervised)

BOOST_AUTO_TEST_CASE(a_node_says_that_it_listens_what_it_is_that_it_lives_and_that_it_leaves) {
  const std::string abstract = "@muster-test-" + std::to_string(::getpid());
  for (const std::string& name : {file("notify").string(), abstract}) {
    NotifySocket systemd(name);
    Process node = begin({"node", "--config", configure(1)},
                         {"NOTIFY_SOCKET=" + name, "WATCHDOG_USEC=200000"});
    const std::string before = systemd.await("READY=1");
    BOOST_TEST(before.find("Normal") == std::string::npos, before);
    systemd.await("STATUS=node 1 is Normal in group ");
    for (int more = 0; more < 3; ++more) systemd.await("WATCHDOG=1");
    node.signal(SIGTERM);
    systemd.await("STOPPING=1");
    BOOST_TEST(node.wait() == 0);
  }
}

BOOST_AUTO_TEST_CASE(one_that_nobody_watches_gives_no_signs_of_life) {
  NotifySocket systemd(file("notify"));
  Process node =
      begin({"node", "--config", configure(1)},
            {"NOTIFY_SOCKET=" + file("notify").string(), "WATCHDOG_USEC=200000", "WATCHDOG_PID=1"});
  const std::string told = systemd.await("STATUS=node 1 is Normal in group ");
  BOOST_TEST(told.find("WATCHDOG") == std::string::npos, told);
}

BOOST_AUTO_TEST_CASE(one_that_waits_for_its_program_lives_and_is_not_ready) {
  application.kind = "socket";
  NotifySocket systemd(file("notify"));
  Process node = begin({"node", "--config", configure(1)},
                       {"NOTIFY_SOCKET=" + file("notify").string(), "WATCHDOG_USEC=200000"});
  const std::string told = systemd.await("STATUS=waits to begin") + systemd.await("WATCHDOG=1");
  BOOST_TEST(told.find("READY") == std::string::npos, told);
}

BOOST_AUTO_TEST_CASE(its_program_cannot_speak_in_its_name) {
  NotifySocket systemd(file("notify"));
  Process node = begin({"run", "--inherit", "--config", configure(1), "--", "/bin/sh", "-c",
                        "env >" + file("new").string() + "; mv " + file("new").string() + ' ' +
                            file("environment").string()},
                       {"NOTIFY_SOCKET=" + file("notify").string(), "WATCHDOG_USEC=200000",
                        "WATCHDOG_PID=", "MARK=there"});
  wait_until([&] { return there("environment"); });
  BOOST_TEST(holds(file("environment"), "MARK=there"));
  for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"})
    BOOST_TEST(!holds(file("environment"), name), name);
}

BOOST_AUTO_TEST_CASE(lines_for_the_journal_begin_with_their_priority) {
  const std::string is_journal = journal_stream();
  for (const auto& [format, begin_of_line] :
       {std::pair("text", "\n<6>2"), std::pair("json", "\n<6>{\"time\":")}) {
    Process node = begin({"node", "--log", format, "--config", configure(1)}, {is_journal});
    wait_until_says(node, log(1), begin_of_line);
  }
  Process refused = begin({"node", "--config", "/nothing.toml"}, {is_journal});
  refused.wait();
  BOOST_TEST(holds(log(1), "\n<3>muster: /nothing.toml"), read_all(log(1)));
}

BOOST_AUTO_TEST_CASE(lines_for_anybody_else_do_not) {
  Process node = begin({"node", "--config", configure(1)}, {"JOURNAL_STREAM=1:1"});
  wait_until_says(node, log(1), " is Normal in group ");
  BOOST_TEST(!holds(log(1), "<6>"), read_all(log(1)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
