#include "real_nodes.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <pty.h>

#include <array>

/// The errors of a node that cannot start, and their exit codes, by which a supervisor decides
/// whether to retry. The file also tests events that must not end a running node, and how soon
/// peers see that a node has ended.

namespace muster::apps {
namespace {

struct OneNode : RealNodes {
  OneNode() : RealNodes(1) {}

  /// Starts a node that cannot come up. Returns its exit code and its output.
  [[nodiscard]] Ran refused() {
    node(1);
    return end(1);
  }
  [[nodiscard]] Expected<Process> within(int descriptors, const std::vector<std::string>& words) {
    auto options = muster_with(
        {"-c", "ulimit -n " + std::to_string(descriptors) + "; exec \"$@\"", "sh", MUSTER_PROGRAM},
        log(1));
    options.program = "/bin/sh";
    options.arguments.insert(options.arguments.end(), words.begin(), words.end());
    return Process::launch(options);
  }
  /// Starts the node with a limit on its descriptors. Returns how the node ended. If it comes up,
  /// the function ends the node and returns no value.
  [[nodiscard]] std::optional<Ran> refused_within(int descriptors) {
    std::filesystem::remove(log(1));
    auto process = within(descriptors, {"node", "--config", configure(1)});
    BOOST_REQUIRE(process.has_value());
    std::optional<int> status;
    wait_until([&] {
      status = process->try_wait();
      return status || holds(log(1), " is up on ");
    });
    if (!status) return std::nullopt;
    return Ran{WIFEXITED(*status) ? WEXITSTATUS(*status) : -1, read_all(log(1))};
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(a_terminal_that_is_lost, OneNode)

BOOST_AUTO_TEST_CASE(ends_neither_a_node_nor_its_program) {
  ::setenv("D", directory.path.c_str(), 1);
  Process& node =
      run(1, {"--inherit", "--", "/bin/sh", "-c", ": >$D/ready; exec tail -f /dev/null"});
  wait_until([&] { return std::filesystem::exists(file("ready")); });
  for (int times : {1, 2}) {
    BOOST_TEST_CONTEXT(times << " times") {
      node.signal(SIGHUP);
      wait_until_says(node, log(1), "has reloaded its configuration");
      ends_well(ask(1, "status"));
    }
  }
  leaves_in_order();
}

BOOST_AUTO_TEST_CASE(leaves_a_node_at_work_that_was_started_from_it) {
  const std::string config = configure(1);
  int terminal = -1;
  const pid_t pid = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  BOOST_REQUIRE(pid >= 0);
  if (pid == 0) {
    ::execl(MUSTER_PROGRAM, "muster", "node", "--config", config.c_str(), nullptr);
    ::_exit(127);
  }
  std::string said;
  std::array<char, 256> bytes{};
  while (said.find(" is up on ") == std::string::npos) {
    const ssize_t size = ::read(terminal, bytes.data(), bytes.size());
    BOOST_REQUIRE_MESSAGE(size > 0, said);
    said.append(bytes.data(), static_cast<std::size_t>(size));
  }
  ::close(terminal);  // the terminal's processes get SIGHUP before this call returns
  Ran status;
  do {
    status = ask(1, "status");
    BOOST_REQUIRE_MESSAGE(status.code == 0 || status.code == 3, status.output);
  } while (status.code != 0);
  ::kill(pid, SIGTERM);
  int how = 0;
  BOOST_REQUIRE(::waitpid(pid, &how, 0) == pid);
  BOOST_TEST((WIFEXITED(how) && WEXITSTATUS(how) == 0), describe_end(how));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(a_configuration_that_was_changed, OneNode)

BOOST_AUTO_TEST_CASE(is_heeded_where_that_may_be_and_the_rest_is_named) {
  const auto spare = ReservedPorts::take(2).value();
  const std::string from = std::to_string(spare.ports()[0]);
  const std::string to = std::to_string(spare.ports()[1]);
  const std::filesystem::path config = configure(1);
  write_file(config, read_all(config) + "[http]\nlisten = \"127.0.0.1:" + from + "\"\n");
  const auto is_served = [](const std::string& port) {
    boost::asio::io_context context;
    boost::asio::ip::tcp::socket socket(context);
    boost::system::error_code error;
    socket.connect(
        {boost::asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(std::stoi(port))},
        error);
    return !error;
  };
  const auto change = [&](const std::string& old, const std::string& fresh) {
    std::string text = read_all(config);
    const std::size_t at = text.find(old);
    BOOST_TEST_REQUIRE(at != std::string::npos, text);
    write_file(config, text.replace(at, old.size(), fresh));
    return ask(1, "reload");
  };
  auto options = muster_with({"node", "--config", config.string()}, log(1));
  processes.emplace(1, Process::launch(options).value());
  await_coordinator(1, {1});
  BOOST_TEST(is_served(from));

  const Ran moved = change(from, to);
  BOOST_TEST(moved.code == 0, moved.output);
  BOOST_TEST(!says(moved, "at its next start"), moved.output);
  BOOST_TEST(is_served(to));
  BOOST_TEST(!is_served(from));
  const Ran later = change("T = \"2s\"", "T = \"1s\"");
  BOOST_TEST(says(later, "at its next start: cluster.T"), later.output);
  boost::asio::io_context context;
  boost::asio::ip::tcp::acceptor held(context, {boost::asio::ip::make_address("127.0.0.1"), 0});
  const std::string taken = std::to_string(held.local_endpoint().port());
  const std::string before = read_all(config);
  std::string text = before;
  write_file(config, text.replace(text.find(to), to.size(), taken));
  const Ran in_use = change("level = \"info\"", "level = \"error\"");
  BOOST_TEST(in_use.code == 75, in_use.output);
  BOOST_TEST(says(in_use, "the address is in use"), in_use.output);
  BOOST_TEST(is_served(to));
  BOOST_TEST(holds(log(1), "the address is in use"));  // the level "error" would have omitted this
  write_file(config, before);
  const Ran wrong = change("level = \"info\"", "level = \"loud\"");
  BOOST_TEST(wrong.code == 75, wrong.output);
  BOOST_TEST(says(wrong, "level = \"loud\""), wrong.output);
  BOOST_TEST(change("level = \"loud\"", "level = \"error\"").code == 0);
  processes.at(1).signal(SIGHUP);  // at the level "info" the log would report this signal
  const Ran left = leave(1);
  BOOST_TEST(left.code == 0);
  BOOST_TEST(!says(left, "was told to leave in order"), left.output);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(a_node_that_cannot_begin, OneNode)

BOOST_AUTO_TEST_CASE(says_75_where_its_address_is_not_there_yet) {
  cluster.insecure = true;
  cluster.nodes[NodeId{1}] = {"192.0.2.1", 7101};  // an address that no machine has (RFC 5737)
  says_why(refused(), 75, "cannot listen at 192.0.2.1:7101: this machine does not have that");
}

// The test starts the node again and again, each time with one more descriptor. So each step of the
// start fails once. With enough descriptors the node comes up.
BOOST_AUTO_TEST_CASE(says_75_where_it_has_too_few_descriptors) {
  int limit = 3;
  const auto runs = [&] {
    auto process = within(limit, {"--version"});
    return process && process->wait() == 0;
  };
  while (!runs()) ++limit;  // the dynamic loader needs some
  int refusals = 0;
  while (const auto ran = refused_within(limit++)) {
    BOOST_TEST_CONTEXT("with " << limit - 1 << " descriptors") {
      says_why(*ran, 75, "no file descriptor is left: raise the limit (ulimit -n)");
      ++refusals;
    }
    BOOST_REQUIRE(limit < 100);
  }
  BOOST_TEST(refusals > 5);
}

BOOST_AUTO_TEST_CASE(says_64_where_a_hook_is_no_program) {
  hooks = HooksConfig{{"sh"}, {}, {file("nothing").string()}, {}};
  const std::string line = "n1.toml:" + std::to_string([&] {
                             std::istringstream text(read_all(configure(1)));
                             int number = 1;
                             for (std::string one; std::getline(text, one); ++number)
                               if (one.starts_with("start = ")) break;
                             return number;
                           }());
  const std::string what = ": start = [\"" + file("nothing").string() + "\"...]: ";
  says_why(refused(), 64,
           line + what + "there is no such program: expected the path of an existing program");
  write_file(file("nothing"), "#!/bin/sh\n");
  says_why(refused(), 64,
           line + what + "it is not executable: expected a program (chmod +x " +
               file("nothing").string());
  hooks->start = {"no-such-program-anywhere"};
  says_why(refused(), 64, "there is no such program in PATH");
  BOOST_TEST(!holds(log(1), "is up"));
  BOOST_TEST(!std::filesystem::exists(file("n1")));  // not even its store was made
}

BOOST_AUTO_TEST_CASE(says_64_where_its_application_is_no_program) {
  application.kind = "socket";
  application.program = {file("nothing").string()};
  says_why(refused(), 64, "program = [\"" + file("nothing").string() + "\"...]: there is no such");
}

BOOST_AUTO_TEST_CASE(says_64_where_its_journal_can_be_none) {
  const auto with_journal = [&](const std::string& name) {
    std::string text = read_all(configure(1));
    const std::string before = "file = \"" + journal(1).string();
    text.replace(text.find(before), before.size(), "file = \"" + file(name).string());
    write_file(file("n1.toml"), text);
    return muster("node --config " + file("n1.toml").string());
  };
  says_why(with_journal("logs/n1.jsonl"), 64,
           "file = \"" + file("logs/n1.jsonl").string() +
               "\": expected a file in an existing directory: make it first (mkdir -p " +
               file("logs").string());
  std::filesystem::create_directory(file("logs"));
  says_why(with_journal("logs"), 64, "logs is a directory: name a file in it");
  for (const char* of_store : {"n1/safe.sqlite", "n1/safe.sqlite-wal", "n1/lock"})
    says_why(with_journal(of_store), 64,
             std::string(of_store) + "\": expected a file that is not part of");
  BOOST_TEST(!std::filesystem::exists(file("n1")));
  std::filesystem::create_symlink(file("victim"), file("link"));
  says_why(with_journal("link"), 64, file("link").string() + " is a symbolic link");
  BOOST_TEST(!std::filesystem::exists(file("victim")));
  // The node makes its own directory itself. A command that only asks a node does not need this
  // directory.
  const std::string text = read_all(configure(1));
  BOOST_TEST(load_config(file("n1.toml"), Look::at_files).has_value());
  write_file(file("n1.toml"), text.substr(0, text.find("[journal]")) + "[journal]\nfile = \"" +
                                  file("n1/j.jsonl").string() + "\"\n");
  BOOST_TEST(load_config(file("n1.toml"), Look::at_files).has_value());
  write_file(file("n1.toml"), text.substr(0, text.find("[journal]")) + "[journal]\nfile = \"" +
                                  file("none/j.jsonl").string() + "\"\n");
  BOOST_TEST(load_config(file("n1.toml")).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(the_end_of_a_node, OneNode)

namespace {

std::string of_process(pid_t pid, const std::string& name) {
  return read_all("/proc/" + std::to_string(pid) + "/" + name);
}

/// The process that keeps the memory of process `of`. The function waits until the keeper has
/// closed all descriptors.
pid_t keeper_of_memory(pid_t of) {
  pid_t keeper = 0;
  wait_until([&] {
    std::istringstream ids(of_process(of, "task/" + std::to_string(of) + "/children"));
    ids >> keeper;
    pid_t other = 0;
    BOOST_TEST_REQUIRE(!(ids >> other));
    return of_process(keeper, "comm") == "muster-memory\n" &&
           of_process(keeper, "maps") == of_process(of, "maps");
  });
  return keeper;
}

}  // namespace

BOOST_AUTO_TEST_CASE(is_seen_before_its_memory_is_given_back) {
  adopt_orphans();
  Process& process = node(1);
  wait_until_says(process, log(1), " is up on ");
  const pid_t keeper = keeper_of_memory(process.pid());
  const auto& address = cluster.nodes.at(NodeId{1});
  boost::asio::io_context context;
  boost::asio::ip::tcp::socket socket(context);
  socket.connect({boost::asio::ip::make_address(address.host), address.port});

  // The process that keeps a node's memory has nothing else open: no socket, no pipe, no terminal.
  const std::filesystem::path descriptors = "/proc/" + std::to_string(keeper) + "/fd";
  for (const auto& each : std::filesystem::directory_iterator(descriptors))
    BOOST_TEST(std::filesystem::read_symlink(each).string() == "anon_inode:[pidfd]");
  BOOST_TEST(::getsid(keeper) == keeper);

  ::kill(keeper, SIGSTOP);
  wait_until([&] { return of_process(keeper, "stat").find(") T ") != std::string::npos; });
  process.signal(SIGKILL);
  std::array<char, 1> byte{};
  boost::system::error_code error;
  while (!error) socket.read_some(boost::asio::buffer(byte), error);
  // The kernel resets the connection if the node had not accepted it yet.
  BOOST_TEST((error == boost::asio::error::eof || error == boost::asio::error::connection_reset));
  BOOST_TEST(end(1).code == -1);
  BOOST_TEST(of_process(keeper, "statm").substr(0, 2) != "0 ");

  ::kill(keeper, SIGCONT);
  BOOST_TEST(::waitpid(keeper, nullptr, __WALL) == keeper);
}

BOOST_AUTO_TEST_CASE(leaves_nothing_behind_where_it_is_in_order) {
  adopt_orphans();
  Process& process = node(1);
  wait_until_says(process, log(1), " is up on ");
  const pid_t keeper = keeper_of_memory(process.pid());
  leaves_in_order();
  BOOST_TEST((::kill(keeper, 0) != 0 && errno == ESRCH));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
