#include "command.hpp"

#include <filesystem>
#include <fstream>

/// Some commands of `muster` are separate programs. Tests `muster` with these programs, without
/// them, and with broken ones.

namespace muster::apps {
namespace {

namespace fs = std::filesystem;

/// A copy of `muster` in a directory without the separate programs.
struct Alone : TestDirectory {
  Alone() { fs::copy_file(MUSTER_PROGRAM, path / "muster"); }

  [[nodiscard]] Ran alone(std::vector<std::string> words) const {
    ProcessOptions options = muster_with(std::move(words), {});
    options.program = path / "muster";
    return run_program(*this, options);
  }

  void part(const std::string& name, const std::string& script) const {
    std::ofstream(path / name) << "#!/bin/sh\n" << script << '\n';
    fs::permissions(path / name, fs::perms::owner_all);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(parts, Alone)

BOOST_AUTO_TEST_CASE(a_part_that_is_not_there_is_refused_and_told_how_to_get_it) {
  for (const char* command : {"check", "simulate", "replay", "verify", "draw", "election"}) {
    const Ran ran = alone({command, "--help"});
    BOOST_TEST(ran.code == 2);
    BOOST_TEST(says(ran, std::string("muster ") + command + " needs the program "));
    BOOST_TEST(says(ran, "install the package muster-lab, or build it with ./dev build release"));
  }
  const Ran ran = alone({"postgres", "status"});
  BOOST_TEST(ran.code == 2);
  BOOST_TEST(says(ran, "install the package muster-postgres"));
}

BOOST_AUTO_TEST_CASE(help_marks_the_commands_of_parts_that_are_not_there) {
  const Ran without = alone({"--help"});
  BOOST_TEST(without.code == 0);
  BOOST_TEST(says(without, "(not installed: needs muster-lab)"));
  BOOST_TEST(says(without, "(not installed: needs muster-postgres)"));
  const Ran with = muster("--help");
  BOOST_TEST(says(with, "  verify "));
  BOOST_TEST(!says(with, "needs muster-lab"));
}

BOOST_AUTO_TEST_CASE(shells_complete_the_options_of_parts_that_are_there) {
  BOOST_TEST(says(muster("completion bash"), "--limit-states"));
  const Ran without = alone({"completion", "bash"});
  BOOST_TEST(without.code == 0);
  BOOST_TEST(says(without, "'muster check'"));
  BOOST_TEST(!says(without, "--limit-states"));
}

BOOST_AUTO_TEST_CASE(the_manual_has_pages_of_parts_that_are_there) {
  const auto pages = [&](const Ran& ran) {
    BOOST_TEST(ran.code == 0, ran.output);
    return std::pair(fs::exists(path / "muster-init.1"), fs::exists(path / "muster-check.1"));
  };
  BOOST_TEST((pages(alone({"man", path.string()})) == std::pair(true, false)));
  BOOST_TEST((pages(muster("man " + path.string())) == std::pair(true, true)));
}

BOOST_AUTO_TEST_CASE(a_part_gets_all_words_and_its_exit_code_is_that_of_muster) {
  part("muster-lab", "echo \"$@\"; exit 9");
  part("muster-postgres", "echo \"$@\"; exit 6");
  const Ran check = alone({"check", "--nodes", "a b"});
  BOOST_TEST(check.code == 9);
  BOOST_TEST(check.output == "check --nodes a b\n");
  const Ran postgres = alone({"postgres", "status", "--json"});
  BOOST_TEST(postgres.code == 6);
  BOOST_TEST(postgres.output == "status --json\n");
}

BOOST_AUTO_TEST_CASE(a_part_that_cannot_describe_itself_is_completed_by_its_name) {
  for (const char* script : {"exit 1", "echo '{\"name\": 7}'", "echo no JSON", "kill -9 $$"}) {
    part("muster-lab", script);
    const Ran ran = alone({"completion", "fish"});
    BOOST_TEST(ran.code == 0);
    BOOST_TEST(says(ran, "-a check"));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
