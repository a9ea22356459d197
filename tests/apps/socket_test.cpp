#include "real_nodes.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <sys/socket.h>
#include <sys/un.h>

#include <set>
#include <sstream>

/// Tests programs that connect to the socket of a node (docs/reference/socket.md).

namespace muster::apps {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

/// A program that the test plays itself.
class Program {
 public:
  explicit Program(const std::filesystem::path& path)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
    const auto* general = reinterpret_cast<const sockaddr*>(&address);
    BOOST_REQUIRE(::connect(socket_.fd(), general, sizeof(address)) == 0);
  }

  void say(std::string line) {
    line += '\n';
    for (std::string_view rest = line; !rest.empty();) {
      const ssize_t size = ::send(socket_.fd(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (size <= 0) return;
      rest.remove_prefix(static_cast<std::size_t>(size));
    }
  }
  /// The next line from the node; null at the end of the stream.
  json::value hear() {
    while (text_.find('\n') == std::string::npos) {
      std::array<char, 4096> buffer;
      const ssize_t size = ::read(socket_.fd(), buffer.data(), buffer.size());
      if (size <= 0) return nullptr;
      text_.append(buffer.data(), static_cast<std::size_t>(size));
    }
    const auto end = text_.find('\n');
    const auto line = json::parse(text_.substr(0, end));
    text_.erase(0, end + 1);
    return line;
  }
  /// The next hook. Skips lines that cancel an earlier hook. Such a line can arrive although the
  /// program has already answered that hook.
  json::object hear_hook() {
    json::value heard = hear();
    while (heard.is_object() && heard.get_object().contains("cancel")) heard = hear();
    BOOST_REQUIRE_MESSAGE(heard.is_object() && heard.get_object().contains("hook"),
                          json::serialize(heard));
    return heard.as_object();
  }
  json::object hear_hook(const std::string& hook) {
    const json::object heard = hear_hook();
    BOOST_TEST(heard.at("hook").as_string() == hook);
    return heard;
  }
  /// The reason that the node gives when it refuses the program.
  std::string hear_refusal() {
    const json::value heard = hear();
    BOOST_REQUIRE_MESSAGE(heard.is_object() && heard.get_object().contains("refused"),
                          json::serialize(heard));
    BOOST_TEST(hear().is_null());
    return std::string(heard.at("refused").as_string());
  }
  void registers(const std::string& version = "2") {
    say(R"({"register":)" + version + "}");
    BOOST_TEST(json::serialize(hear()) ==
               R"({"registered":)" + version + R"(,"node":1,"nodes":[1]})");
  }
  void done(const json::object& told, json::object gives = {}) {
    gives["done"] = told.at("ticket");
    say(json::serialize(gives));
  }
  /// Plays the program from its registration until it works. Returns the lines by which the node
  /// called its hooks.
  std::map<std::string, json::object> works(const json::object& report = {},
                                            const json::object& definition = {}) {
    std::map<std::string, json::object> told;
    done(told["stop"] = hear_hook("stop"), report);
    done(told["reorganize"] = hear_hook("reorganize"), definition);
    done(told["start"] = hear_hook("start"));
    return told;
  }

 private:
  Descriptor socket_;
  std::string text_;
};

/// A cluster of one node. The test either plays the node's program itself, or runs a program in the
/// test's directory.
struct Socketed : RealNodes {
  Socketed() : RealNodes(1) { application.kind = "socket"; }

  void starts(const std::string& python) {
    write_program(file("program.py"), "#!/usr/bin/env python3\n" + python);
    application.program = {file("program.py")};
    node(1);
  }
  void waits_for_program() {
    std::filesystem::remove(log(1));  // the output of an earlier life
    node(1);
    wait_until([&] { return holds(log(1), "node 1 waits for its program at "); });
  }
  /// The node waits for a program. The test's program connects and registers.
  Program awaited_program() {
    waits_for_program();
    Program program(socket());
    program.registers();
    return program;
  }
  [[nodiscard]] std::filesystem::path socket() const { return file("n1") / "application.sock"; }
  [[nodiscard]] bool is_up() const { return holds(log(1), " is up on "); }
  /// The node leaves in order, and its program answers `stop`.
  void leaves_with(Program& program) {
    processes.at(1).signal(SIGTERM);
    program.done(program.hear_hook("stop"));
    BOOST_TEST(program.hear().is_null());
    ends_well(end(1));
  }
};

/// Waits for the hook `reorganize`. The node calls it again after each failure.
json::object await_reorganize(Program& program) {
  json::object told = program.hear_hook();
  while (told.at("hook").as_string() == "stop") {  // the node has stepped back before
    program.done(told);
    told = program.hear_hook();
  }
  BOOST_TEST(told.at("hook").as_string() == "reorganize");
  return told;
}

std::string document() {
  return read_all(MUSTER_DOCUMENTS "/reference/socket.md");
}

std::string keys_of(const json::object& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object) keys.emplace(key);
  std::string text;
  for (const std::string& key : keys) text += key + " ";
  return text;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(program_at_a_socket, Socketed)

BOOST_AUTO_TEST_CASE(is_what_its_node_waits_for) {
  waits_for_program();
  BOOST_TEST(!is_up());
  const Ran status = ask(1, "status");
  BOOST_TEST(status.code == 5, status.output);
  struct stat found {};
  BOOST_TEST(::stat(socket().c_str(), &found) == 0);
  BOOST_TEST((found.st_mode & 0777) == 0600u);
  Program program(socket());
  program.registers();
  program.works();
  wait_until([&] { return is_up(); });
  leaves_with(program);
  BOOST_TEST(!std::filesystem::exists(socket()));
}

BOOST_AUTO_TEST_CASE(may_never_come) {
  waits_for_program();
  leaves_in_order();
  BOOST_TEST(!holds(log(1), " is up on "));
}

BOOST_AUTO_TEST_CASE(gives_and_is_told_any_bytes) {
  Program program = awaited_program();
  const json::object bytes{{"base64", "AP/+"}};
  const auto told = program.works({{"report", bytes}},
                                  {{"definition", "Z\u00fcrich\n"}, {"parts", {{"1", bytes}}}});
  const json::object& member = told.at("reorganize").at("members").as_array()[0].as_object();
  BOOST_TEST(json::serialize(member.at("report")) == json::serialize(bytes));
  BOOST_TEST(told.at("start").at("definition").as_string() == "Z\u00fcrich\n");
  BOOST_TEST(json::serialize(told.at("start").at("part")) == json::serialize(bytes));
  leaves_with(program);
}

BOOST_AUTO_TEST_CASE(is_told_what_the_documents_say) {
  for (int life : {1, 2}) {  // in its second life the node already has a task, which was assigned
                             // in its first life
    BOOST_TEST_CONTEXT("life " << life) {
      Program program = awaited_program();
      const auto told = program.works();
      for (const auto& [hook, object] : told) {
        const std::string text = document();
        const auto begin = text.find("`{\"hook\":\"" + hook) + 1;
        const auto shown = json::parse(text.substr(begin, text.find('`', begin) - begin));
        BOOST_TEST(keys_of(object) == keys_of(shown.as_object()), hook);
      }
      const auto& last = told.at("reorganize").at("last_assigned");
      BOOST_TEST((life == 1 ? last.is_null() : last == 1));
      BOOST_TEST(told.at("stop").at("group").is_null());
      leaves_with(program);
    }
  }
}

BOOST_AUTO_TEST_CASE(of_version_1_is_told_the_old_name_too_and_the_log_says_so_once) {
  waits_for_program();
  for (int times = 0; times < 2; ++times) {
    Program program(socket());
    program.registers("1");
    const json::object told = await_reorganize(program);
    BOOST_TEST(told.at("freshest") == told.at("last_assigned"));
  }
  Program program(socket());
  program.registers();
  const json::object told = await_reorganize(program);
  BOOST_TEST(!told.contains("freshest"));
  program.done(told);
  program.done(program.hear_hook("start"));
  leaves_with(program);
  const std::string said = "`last_assigned` by its old name `freshest`";
  const std::string text = read_all(log(1));
  BOOST_TEST(text.find(said) != text.npos);
  BOOST_TEST(text.find(said) == text.rfind(said));
}

BOOST_AUTO_TEST_CASE(asks_and_answers) {
  Program program = awaited_program();
  const json::object stops = program.hear_hook("stop");
  program.say(R"({"ask":1,"member":1,"question":"too early"})");
  BOOST_TEST(json::serialize(program.hear()) ==
             R"({"answered":1,"failed":"only reorganize and start may ask"})");
  program.done(stops);
  const json::object reorganizes = program.hear_hook("reorganize");
  program.say(R"({"ask":2,"member":1,"question":{"base64":"AP/+"}})");
  const json::object asked = program.hear_hook("answer");
  BOOST_TEST(json::serialize(asked.at("question")) == R"({"base64":"AP/+"})");
  BOOST_TEST(asked.at("from") == 1);
  BOOST_TEST(!asked.at("working").as_bool());
  program.done(asked, {{"answer", "all of it"}});
  BOOST_TEST(json::serialize(program.hear()) == R"({"answered":2,"answer":"all of it"})");
  program.done(reorganizes);
  program.done(program.hear_hook("start"));
  wait_until([&] { return is_up(); });
  leaves_with(program);
}

BOOST_AUTO_TEST_CASE(says_how_far_it_is_and_why_it_failed) {
  Program program = awaited_program();
  program.done(program.hear_hook("stop"));
  const json::object told = program.hear_hook("reorganize");
  const std::string ticket = json::serialize(told.at("ticket"));
  program.say(R"({"progress":)" + ticket + R"(,"text":"3/7 merged"})");
  wait_until([&] { return says(ask(1, "status --json"), "3/7 merged"); });
  program.say(R"({"failed":)" + ticket + R"(,"why":"no more chalk"})");
  wait_until([&] { return holds(journal(1), "no more chalk"); });
  program.done(program.hear_hook("reorganize"));
  program.done(program.hear_hook("start"));
  program.done(told);  // this result is of a cancelled hook, so the node ignores it
  leaves_with(program);
}

BOOST_AUTO_TEST_CASE(says_what_it_is_and_what_it_wants_of_its_node) {
  Program program = awaited_program();
  program.works();
  program.say(R"({"show":{"primary":true,"replica":false},"text":"2 of 3 hold each commit"})");
  wait_until([&] { return says(ask(1, "status"), "; primary (2 of 3 hold each commit)"); });
  program.say(R"({"note":"invoice 1-1"})");
  program.say(R"({"elect":"its database has died"})");
  program.works();
  BOOST_TEST(holds(journal(1), R"("note":"invoice 1-1")"));
  BOOST_TEST(holds(journal(1), "its database has died"));
  program.say(R"({"step_down_ns":1})");
  program.done(program.hear_hook("stop"));
  program.works();  // in its next life
  leaves_with(program);
}

BOOST_AUTO_TEST_CASE(says_what_is_broken_and_its_node_goes_on) {
  Program program = awaited_program();
  program.works();
  program.say(R"({"broken":"invoice 1-1 twice"})");
  wait_until([&] { return says(ask(1, "status"), "; BROKEN: invoice 1-1 twice"); });
  BOOST_TEST(holds(journal(1), R"("broken":"invoice 1-1 twice")"));
  leaves_with(program);
}

BOOST_AUTO_TEST_CASE(gives_what_is_wrong_and_its_hook_has_failed) {
  Program program = awaited_program();
  program.done(program.hear_hook("stop"));
  program.done(program.hear_hook("reorganize"), {{"definitoin", "x"}});
  wait_until([&] { return holds(journal(1), "unknown key \\\"definitoin\\\""); });
  program.done(program.hear_hook("reorganize"), {{"definition", {{"base64", "?"}}}});
  wait_until([&] { return holds(journal(1), "definition: expected text, or "); });
  program.done(program.hear_hook("reorganize"));
  program.done(program.hear_hook("start"));
  leaves_with(program);
}

BOOST_AUTO_TEST_CASE(is_sent_away_with_the_reason_and_another_may_come) {
  waits_for_program();
  const std::pair<std::string, std::string> unregistered[] = {
      {"hello", "not a JSON object"},
      {R"({"done":1})", "expected {\"register\":2} first"},
      {R"({"register":0})", "it speaks version 0"},
      {R"({"register":3})", "it speaks version 3, but this node speaks 1 and 2"},
      {R"({"register":")" + std::string(9000, 'x') + "\"}", "xxx..."},
      {std::string(256 * 1024 + 1, '['), "a line of more than 262144 bytes"},
  };
  for (const auto& [line, why] : unregistered) {
    Program program(socket());
    program.say(line);
    BOOST_TEST(program.hear_refusal().find(why) != std::string::npos, why);
  }
  const std::pair<std::string, std::string> registered[] = {
      {"[]", "not a JSON object"},
      {R"({"done":1000})", "no such ticket was given"},
      {R"({"done":"x"})", "no such ticket was given"},
      {R"({"hook":"stop"})", "not a known message"},
      {R"({"elect":7})", "expected text, or"},
      {R"({"broken":true})", "expected text, or"},
      {R"({"note":"x","why":"y"})", "unknown key \"why\""},
      {R"({"step_down_ns":-1})", "expected a number of nanoseconds, not -1"},
      {R"({"show":{"primary":1}})", "show: "},
      {R"({"show":{"status":true}})", "the node itself has a page of that name; choose another"},
      {R"({"show":{},"txt":"x"})", "unknown key \"txt\""},
  };
  Program first(socket());
  first.registers();
  await_reorganize(first);  // it has not begun to work, so the next program gets `reorganize` too
  first.say(registered[0].first);
  BOOST_TEST(first.hear_refusal().find(registered[0].second) != std::string::npos);
  for (const auto& [line, why] : registered) {
    Program program(socket());
    program.registers();
    await_reorganize(program);
    if (why == registered[0].second) {
      Program second(socket());
      BOOST_TEST(second.hear_refusal() == "another program is registered");
    }
    program.say(line);
    BOOST_TEST(program.hear_refusal().find(why) != std::string::npos, why);
  }
  processes.at(1).signal(SIGKILL);
}

BOOST_AUTO_TEST_CASE(that_goes_away_while_it_works_takes_its_node_with_it) {
  awaited_program().works();
  says_why(end(1), 76, "its program disconnected while its node was at work");
}

BOOST_AUTO_TEST_CASE(that_goes_away_at_its_stop_takes_its_node_with_it) {
  {
    Program program = awaited_program();
    program.works();
    processes.at(1).signal(SIGTERM);
    program.hear_hook("stop");
  }
  says_why(end(1), 76, "its program disconnected while its node was at work");
}

BOOST_AUTO_TEST_CASE(may_be_replaced_while_its_node_is_out) {
  const std::vector<std::string> drain{"drain", "--dir", file("n1").string()};
  auto undo = drain;
  undo.emplace_back("--undo");
  {
    Program program = awaited_program();
    program.works();
    wait_until([&] { return is_up(); });
    auto draining = Process::launch(muster_with(drain, file("drain.log")));
    program.done(program.hear_hook("stop"));
    BOOST_TEST(draining->wait() == 0);
  }
  auto undoing = Process::launch(muster_with(undo, file("undo.log")));
  Program program(socket());
  program.registers();
  program.works();
  BOOST_TEST(undoing->wait() == 0);
  leaves_with(program);
}

BOOST_AUTO_TEST_CASE(that_its_node_started_ends_with_it_and_it_with_the_program) {
  const std::string connects = R"(
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(os.environ["MUSTER_SOCKET"])
lines = s.makefile("rw")
)";
  starts("import sys; sys.exit(3)");
  says_why(end(1), 76, "program.py ended with exit code 3");
  application.program = {file("nothing").string()};
  write_program(file("nothing"), "#!/nowhere/at/all\n");
  node(1);
  says_why(end(1), 76, "cannot start " + file("nothing").string());
  starts(connects + R"(
print('{"register":2}', file=lines, flush=True)
lines.readline()
for i in range(3):
    import json
    print(json.dumps({"done": json.loads(lines.readline())["ticket"]}), file=lines, flush=True)
sys.exit(4)
)");
  says_why(end(1), 76, "program.py ended with exit code 4 while its node was at work");
  starts(connects + "s.close()\nimport signal\nsignal.pause()");  // this program never registers
  wait_until([&] { return holds(log(1), "waits for its program"); });
  leaves_in_order();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(program_of_the_documents)

BOOST_AUTO_TEST_CASE(runs_as_it_stands_and_survives_its_coordinator) {
  RealNodes nodes(3);
  write_program(nodes.file("lamp.py"), block_of(document(), "python file=lamp.py"));
  nodes.application =
      parse_config(read_all(nodes.configure(1))
                           .substr(0, read_all(nodes.configure(1)).find("\n[application]")) +
                       "\n" + block_of(document(), "toml"),
                   nodes.file("n1.toml"))
          .value()
          .application;
  BOOST_TEST(nodes.application.program.size() == 1u);
  const auto shines = [&](std::uint32_t id) {
    wait_until([&] { return holds(nodes.log(id), "shining in group "); });
  };
  for (std::uint32_t id : {1u, 2u, 3u}) nodes.node(id);
  shines(1);
  nodes.processes.at(1).signal(SIGKILL);
  nodes.end(1);
  shines(2);
  nodes.processes.at(3).signal(SIGKILL);
  nodes.end(3);
  std::filesystem::resize_file(nodes.log(2), 0);
  shines(2);
  nodes.leaves_in_order(2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
