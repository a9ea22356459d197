#include "real_nodes.hpp"

#include "apps/programs/child.hpp"

#include <thread>

namespace muster::apps {
namespace {

using namespace std::chrono_literals;

struct Bench {
  Bench() {
    ::signal(SIGPIPE, SIG_IGN);
    adopt_orphans();
  }

  /// Runs a shell command in the test's directory, with a deadline that is longer than it needs.
  [[nodiscard]] ChildOptions shell(const std::string& command) const {
    ChildOptions options;
    options.command = {"/bin/sh", "-c", command};
    options.directory = directory.path;
    options.output_limit = 1 << 20;
    options.grace = 60s;
    return options;
  }

  static ChildEnd run(ChildOptions options) {
    auto child = Child::launch(std::move(options));
    BOOST_REQUIRE_MESSAGE(child.has_value(), child.error().what);
    return child->wait({});
  }

  /// Runs the program, and tells it to end as soon as it has made the file `ready`.
  ChildEnd run_and_tell(ChildOptions options) {
    auto child = Child::launch(std::move(options));
    BOOST_REQUIRE(child.has_value());
    group = child->pid();
    std::stop_source told;
    const std::jthread teller([&] {
      wait_until([&] { return std::filesystem::exists(directory.path / "ready"); });
      told.request_stop();
    });
    return child->wait(told.get_token());
  }

  TestDirectory directory;
  pid_t group = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(child, Bench)

BOOST_AUTO_TEST_CASE(gets_its_input_and_gives_its_output) {
  auto options = shell("cat");
  options.input = std::string(300'000, 'x') + "\nend";
  const ChildEnd end = run(options);
  BOOST_TEST(end.exited_with(0));
  BOOST_TEST(end.output == *options.input);
  options.input = "";
  BOOST_TEST(run(options).output.empty());
}

BOOST_AUTO_TEST_CASE(need_not_read_its_input) {
  auto options = shell("exit 3");
  options.input = std::string(1 << 20, 'x');
  BOOST_TEST(run(options).exited_with(3));
}

BOOST_AUTO_TEST_CASE(gets_its_environment_its_arguments_and_its_directory) {
  ::setenv("MUSTER_DEATH_PIPE", "9", 1);
  ::setenv("MUSTER_GROUP", "1.1", 1);
  auto options = shell(R"(echo "$MUSTER_WORD|$MUSTER_DEATH_PIPE$MUSTER_GROUP|$1|$2"; pwd -P)");
  options.command.insert(options.command.end(), {"sh", "a b", "*"});
  options.environment = {"MUSTER_WORD=hello"};
  BOOST_TEST(run(options).output ==
             "hello||a b|*\n" + std::filesystem::canonical(directory.path).string() + "\n");
  ::unsetenv("MUSTER_DEATH_PIPE");
  ::unsetenv("MUSTER_GROUP");
}

BOOST_AUTO_TEST_CASE(inherits_what_a_program_needs_and_no_more_unless_it_is_told_to) {
  ::setenv("PASSWORD_OF_THE_SERVICE", "secret", 1);
  ::setenv("LC_TIME", "C", 1);
  auto options = shell(R"(echo "$PASSWORD_OF_THE_SERVICE|$LC_TIME|${PATH:+path}")");
  BOOST_TEST(run(options).output == "|C|path\n");
  options.inherit = true;
  BOOST_TEST(run(options).output == "secret|C|path\n");
  ::unsetenv("PASSWORD_OF_THE_SERVICE");
  ::unsetenv("LC_TIME");
}

BOOST_AUTO_TEST_CASE(gets_no_descriptors_and_no_blocked_signals) {
  const auto pipe = make_pipe().value();
  const Descriptor leaky(::dup(pipe.read.fd()));  // without close-on-exec
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const ChildEnd end = run(shell("ls /proc/self/fd; grep -E 'Sig(Blk|Ign)' /proc/self/status"));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  BOOST_TEST(end.output == "0\n1\n2\n3\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

BOOST_AUTO_TEST_CASE(that_cannot_be_executed_is_named_with_the_reason) {
  auto options = shell("");
  options.command = {"/nothing/there"};
  BOOST_TEST(Child::launch(options).error().what ==
             "cannot start /nothing/there: No such file or directory");
  // A file that names no interpreter is not run by a shell.
  const auto text = directory.path / "text";
  write_program(text, "exit 0\n");
  options.command = {text.string()};
  BOOST_TEST(Child::launch(options).error().what ==
             "cannot start " + text.string() + ": Exec format error");
}

BOOST_AUTO_TEST_CASE(without_a_slash_is_looked_for_in_path) {
  BOOST_TEST(find_program("sh").is_absolute());
  BOOST_TEST(find_program("./sh") == "./sh");
  BOOST_TEST(find_program("no-such-program") == "no-such-program");
  auto options = shell("");
  options.command = {"sh", "-c", "echo $0", "word"};
  BOOST_TEST(run(options).output == "word\n");
}

BOOST_AUTO_TEST_CASE(that_is_told_may_end_in_order) {
  const ChildEnd end = run_and_tell(
      shell("trap 'echo bye; exit 5' TERM; sh -c ': >ready; exec tail -f /dev/null' & wait"));
  BOOST_TEST((end.told && !end.killed && !end.overran));
  BOOST_TEST(end.exited_with(5));
  BOOST_TEST(end.output == "bye\n");
  BOOST_TEST(gone(group));
}

BOOST_AUTO_TEST_CASE(that_is_told_and_ignores_it_is_killed_with_all_of_its_group) {
  auto options = shell("trap '' TERM; tail -f /dev/null & : >ready; tail -f /dev/null");
  options.grace = 2s;
  const ChildEnd end = run_and_tell(options);
  BOOST_TEST((end.told && end.killed && !end.remains));
  BOOST_TEST(describe_end(end.status) == "was ended by signal 9");
  BOOST_TEST(gone(group));
}

BOOST_AUTO_TEST_CASE(whose_rest_ignores_the_signal_is_waited_for_until_that_is_killed) {
  auto options = shell("(trap '' TERM; : >ready; exec tail -f /dev/null) & wait");
  options.grace = 2s;
  const ChildEnd end = run_and_tell(options);
  BOOST_TEST(describe_end(end.status) == "was ended by signal 15");
  BOOST_TEST((end.killed && !end.remains));
  BOOST_TEST(gone(group));
}

BOOST_AUTO_TEST_CASE(that_overruns_its_deadline_is_told) {
  auto options = shell("exec tail -f /dev/null");
  options.deadline = 50ms;
  const ChildEnd end = run(options);
  BOOST_TEST((end.overran && !end.told && !end.killed));
  BOOST_TEST(describe_end(end.status) == "was ended by signal 15");
}

BOOST_AUTO_TEST_CASE(that_writes_too_much_is_told) {
  auto options = shell("exec cat /dev/zero");
  options.output_limit = 1000;
  BOOST_TEST(run(options).too_large);
  options = shell("printf 12345");
  options.output_limit = 5;
  BOOST_TEST(!run(options).too_large);
  options.output_limit = 4;
  BOOST_TEST(run(options).too_large);
}

BOOST_AUTO_TEST_CASE(that_ends_by_itself_leaves_nothing_unless_that_is_spared) {
  const auto leaves = [&](const std::string& code, Rest rest) {
    auto options = shell("tail -f /dev/null >/dev/null & exit " + code);
    options.rest = rest;
    auto child = Child::launch(options);
    BOOST_REQUIRE(child.has_value());
    const pid_t there = child->pid();
    child->wait({});
    const bool spared = !gone(there);
    if (spared) ::kill(-there, SIGKILL);
    return spared;
  };
  BOOST_TEST(!leaves("0", Rest::killed));
  BOOST_TEST(leaves("0", Rest::spared));
  BOOST_TEST(!leaves("75", Rest::spared));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
