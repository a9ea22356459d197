#include "apps/base/process.hpp"
#include "apps/cluster/journal_tail.hpp"
#include "apps/cluster/ports.hpp"
#include "apps/cluster/resource.hpp"
#include "storage/temporary_directory.hpp"
#include "written_in.hpp"

#include <boost/test/unit_test.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>

namespace muster::apps {
namespace {

using namespace std::chrono_literals;
using test::TemporaryDirectory;
using test::written_in;

struct Here : TemporaryDirectory {
  [[nodiscard]] ProcessOptions shell(const std::string& command) const {
    ProcessOptions options;
    options.program = "/bin/sh";
    options.arguments = {"-c", command};
    options.output = path() / "out";
    return options;
  }
  [[nodiscard]] std::string output() const { return written_in(path() / "out"); }
};

void append(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::app) << text;
}

std::string fault(std::int64_t t) {
  std::string line;
  journal::fault_line(line, {Duration(t), journal::FaultKind::killed, NodeId{5}, std::nullopt});
  return line;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(process, Here)

BOOST_AUTO_TEST_CASE(runs_in_a_group_of_its_own_with_its_output_and_environment) {
  auto options = shell("echo $MUSTER_WORD; ps -o pgid= -p $$ | tr -d ' '; echo $$; exit 7");
  options.environment = {"MUSTER_WORD=hello"};
  auto process = Process::launch(options);
  BOOST_REQUIRE(process.has_value());
  const int status = process->wait();
  BOOST_TEST(WEXITSTATUS(status) == 7);
  BOOST_TEST(describe_end(status) == "ended with exit code 7");
  std::istringstream out(output());
  std::string word;
  pid_t group = 0;
  pid_t pid = 0;
  out >> word >> group >> pid;
  BOOST_TEST(word == "hello");
  BOOST_TEST(group == pid);
  BOOST_TEST(group != getpgrp());
}

BOOST_AUTO_TEST_CASE(inherits_only_what_it_is_given) {
  auto given = make_pipe().value();
  auto other = make_pipe().value();
  auto options = shell("ls /proc/self/fd");
  options.inherited = {given.write.fd()};
  Process::launch(options)->wait();
  std::istringstream out(output());
  std::set<int> open;
  for (int fd = 0; out >> fd;) open.insert(fd);
  BOOST_TEST(open.contains(given.write.fd()));
  BOOST_TEST(!open.contains(other.write.fd()));
}

BOOST_AUTO_TEST_CASE(a_program_that_is_not_there_is_said_at_once) {
  auto options = shell("");
  options.program = path() / "nothing";
  const auto process = Process::launch(options);
  BOOST_REQUIRE(process.has_error());
  BOOST_TEST(process.error().what.find("nothing") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_signal_comes_once) {
  auto pipe = make_pipe().value();
  const std::string ready = std::to_string(pipe.write.fd());
  // The kernel queues real-time signals, and delivers the one with the lowest number first.
  auto options = shell(
      "exec python3 -c '\n"
      "import os, signal\n"
      "counted, last = signal.SIGRTMIN, signal.SIGRTMIN + 1\n"
      "signal.pthread_sigmask(signal.SIG_BLOCK, {counted, last})\n"
      "os.write(" +
      ready +
      ", b\"!\")\n"
      "count = 0\n"
      "while signal.sigwaitinfo({counted, last}).si_signo == counted:\n"
      "    count += 1\n"
      "print(count)'");
  options.inherited = {pipe.write.fd()};
  auto process = Process::launch(options);
  BOOST_REQUIRE(process.has_value());
  pipe.write = Descriptor();
  char byte = 0;
  BOOST_REQUIRE(::read(pipe.read.fd(), &byte, 1) == 1);
  for (int times = 0; times < 20; ++times) process->signal(SIGRTMIN);
  process->signal(SIGRTMIN + 1);
  BOOST_TEST(WEXITSTATUS(process->wait()) == 0);
  BOOST_TEST(output() == "20\n");
}

BOOST_AUTO_TEST_CASE(ends_with_its_handle) {
  auto pipe = make_pipe().value();
  {
    // The process starts a child of its own in the same process group. Both have the pipe open.
    auto options = shell("tail -f /dev/null & tail -f /dev/null");
    options.inherited = {pipe.write.fd()};
    auto process = Process::launch(options);
    BOOST_REQUIRE(process.has_value());
    BOOST_TEST(!process->try_wait().has_value());
  }
  pipe.write = Descriptor();
  char byte = 0;
  BOOST_TEST(::read(pipe.read.fd(), &byte, 1) == 0);  // waits until both have ended
}

BOOST_AUTO_TEST_CASE(ends_when_its_launcher_is_killed) {
  auto pipe = make_pipe().value();
  const pid_t launcher = fork();
  if (launcher == 0) {
    auto options = shell("exec tail -f /dev/null");
    options.inherited = {pipe.write.fd()};
    auto process = Process::launch(options);
    ::kill(getpid(), SIGKILL);
    _exit(1);
  }
  pipe.write = Descriptor();
  char byte = 0;
  BOOST_TEST(::read(pipe.read.fd(), &byte, 1) == 0);
  waitpid(launcher, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(takes_no_signal_in_place_of_its_launcher) {
  constexpr int sent = 5000;
  auto pipe = make_pipe().value();
  const pid_t launcher = fork();
  if (launcher == 0) {
    setpgid(0, 0);
    static const int taken = pipe.write.fd();
    ::signal(SIGRTMIN, [](int) { [[maybe_unused]] const auto size = ::write(taken, "!", 1); });
    const pid_t sender = fork();
    if (sender == 0) {
      ::signal(SIGRTMIN, SIG_IGN);
      for (int times = 0; times < sent; ++times) ::kill(0, SIGRTMIN);
      _exit(0);
    }
    while (waitpid(sender, nullptr, WNOHANG) != sender) Process::launch(shell("exit 0"))->wait();
    _exit(0);
  }
  pipe.write = Descriptor();
  int count = 0;
  for (char byte = 0; ::read(pipe.read.fd(), &byte, 1) == 1;) ++count;
  BOOST_TEST(count == sent);
  waitpid(launcher, nullptr, 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(reserved_ports)

BOOST_AUTO_TEST_CASE(are_below_the_ephemeral_range_and_nobody_elses) {
  const auto left = ReservedPorts::take(20);
  const auto right = ReservedPorts::take(20);
  BOOST_REQUIRE((left.has_value() && right.has_value()));
  std::uint32_t first = 0;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first;
  std::set<std::uint16_t> all;
  for (const auto* taken : {&*left, &*right}) {
    for (std::uint16_t port : taken->ports()) {
      BOOST_TEST(port < first);
      all.insert(port);
    }
  }
  BOOST_TEST(all.size() == 40u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(journal_tail, Here)

BOOST_AUTO_TEST_CASE(gives_whole_lines_over_torn_ones_and_segments) {
  const auto file = path() / "journal.jsonl";
  JournalTail tail(file);
  std::vector<journal::Line> lines;
  tail.read(lines);
  BOOST_TEST(lines.empty());
  append(file, fault(1) + fault(2).substr(0, 10));
  tail.read(lines);
  BOOST_TEST(lines.size() == 1u);
  append(file, fault(2).substr(10));
  tail.read(lines);
  BOOST_TEST(lines.size() == 2u);
  append(file, fault(3).substr(0, 10) + "\n" + fault(4));  // the next life begins on a new line
  tail.read(lines);
  BOOST_TEST(lines.size() == 3u);
  BOOST_TEST(tail.torn() == 1u);
  append(file, fault(5));
  append(file.string() + ".1", fault(6));
  append(file.string() + ".2", fault(7));
  tail.read(lines);
  BOOST_REQUIRE_EQUAL(lines.size(), 6u);
  BOOST_TEST(journal::time_of(lines.back()) == 7ns);
  BOOST_TEST(JournalTail::segments(file).size() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(resource)

BOOST_AUTO_TEST_CASE(accepts_what_does_not_go_back) {
  const auto record = [](std::uint64_t counter, std::uint32_t node, std::uint64_t sequence) {
    return record_line({7, {counter, NodeId{5}}, sequence, NodeId{node}});
  };
  Resource resource;
  const std::string two = record(4, 1, 1) + record(4, 1, 2);
  resource.take(two.substr(0, 30), 1ns);
  BOOST_TEST(resource.accepted().empty());
  resource.take(two.substr(30), 2ns);
  BOOST_TEST(resource.accepted().size() == 2u);
  resource.take(record(6, 2, 3) + record(4, 1, 3) + "garbage\n", 3ns);
  BOOST_TEST(resource.accepted().size() == 3u);
  BOOST_REQUIRE_EQUAL(resource.refused().size(), 1u);
  BOOST_TEST(resource.refused().front().by == (GroupNumber{6, NodeId{5}}));
  BOOST_TEST(resource.unreadable() == 1u);
  BOOST_TEST(resource.accepted_of(NodeId{1}) == 2u);
  BOOST_TEST(resource.last().at(7).node.value == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
