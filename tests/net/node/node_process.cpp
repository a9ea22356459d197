#include "cluster.hpp"
#include "storages.hpp"

#include <muster/adapters.hpp>
#include <muster/storage/sqlite_storage.hpp>
#include <muster/values/text.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <future>
#include <iostream>
#include <map>
#include <new>
#include <sstream>

/// One node in a process of its own. The KEY=VALUE words of the command line tell its application
/// what to do. On standard input, 'w' makes the application write a cell whose key is too long, and
/// 'o' a cell whose key belongs to the node. The end of standard input makes the node leave.

using namespace muster;
using test::Cue;

namespace {

using Words = std::map<std::string, std::string>;

std::string value(const Words& words, const std::string& key, const std::string& otherwise = "") {
  const auto found = words.find(key);
  return found == words.end() ? otherwise : found->second;
}

Duration milliseconds(const Words& words, const std::string& key, Duration otherwise) {
  const std::string text = value(words, key);
  return text.empty() ? otherwise : Duration(std::chrono::milliseconds(std::stol(text)));
}

net::NodeOptions node_options(const Words& words) {
  net::NodeOptions options;
  options.config.self = NodeId{static_cast<std::uint32_t>(std::stoul(value(words, "id")))};
  std::istringstream addresses(value(words, "addresses"));
  std::uint32_t id = 0;
  for (std::string address; std::getline(addresses, address, ',');) {
    options.config.nodes.insert(NodeId{++id});
    options.network.addresses[NodeId{id}] = address;
  }
  for_each_field(options.config.timings,
                 [&](const char* name, Duration& time) { time = milliseconds(words, name, time); });
  options.cluster = "name=test\n";
  options.log.level = LogLevel::warning;
  if (words.contains("tells_fatal"))
    options.log.fatal = [](const Failure& failure) {
      std::cerr << "told: " << failure.what << '\n';
    };
  options.lives.initialise = words.contains("initialise");
  options.lives.hold_down = milliseconds(words, "hold_down", options.lives.hold_down);
  options.admin.socket = value(words, "admin_socket");
  if (const std::string wire = value(words, "wire"); !wire.empty())
    options.network.wire = {static_cast<std::uint8_t>(wire.front() - '0'),
                            static_cast<std::uint8_t>(wire.back() - '0')};
  options.network.insecure = words.contains("insecure");
  const std::filesystem::path directory = value(words, "directory");
  options.journal =
      net::JournalOptions{test::journal_of(directory, options.config.self), 64'000'000};
  return options;
}

/// Opens descriptors until the process may open no more.
void take_all_descriptors() {
  constexpr rlim_t few = 128;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = few;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  while (::open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) {
  }
}

/// Forbids further threads in this process. The limit does not bind root, so the process becomes
/// another user.
void forbid_threads() {
  constexpr uid_t nobody = 65534;
  const rlimit none{0, 0};
  if (::setrlimit(RLIMIT_NPROC, &none) != 0 || ::setresuid(nobody, nobody, nobody) != 0)
    std::abort();
}

void behave(test::Stage& stage, const std::string& what, Cue cue) {
  if (what == "fail") {
    cue.fail("as it was told");
  } else if (what == "hang") {
    stage.keep(std::move(cue));
  } else if (what == "descriptors") {
    // The hook fails the first time, and is called again while no descriptor is left.
    static bool first = true;
    take_all_descriptors();
    if (std::exchange(first, false))
      cue.fail("it has taken them all");
    else
      cue.complete();
  } else if (what == "threads") {
    forbid_threads();
    cue.complete();
  } else {
    cue.complete();
  }
}

void play(test::Stage& stage, NodeId node, const Words& words) {
  for (const Hook hook : {Hook::stop, Hook::reorganize, Hook::start})
    stage.play(node, hook, [&stage, what = value(words, to_text(hook))](Cue cue) {
      behave(stage, what, std::move(cue));
    });
}

/// Throws in the function that `where` names. The application's `start` posts that function, or
/// passes it as a callback.
std::unique_ptr<Application> throwing(Services& services, const std::string& where) {
  return make_application(Functions{.start = [&services, where](const Assignment& task) {
    const auto throws = [](const auto&...) { throw std::runtime_error("as it was told"); };
    if (where == "posted") services.post(throws);
    if (where == "posted_after") services.post_after(Duration(1), throws);
    if (where == "durable") services.write({"k", {"v"}}, throws);
    if (where == "scanned") services.scan("k", throws);
    if (where == "answered") task.ask(NodeId{9}, {}, throws);  // node 9 is no member
    if (where == "permitted") services.permits().acquire().then(throws);
  }});
}

/// Makes standard error a full pipe that nobody reads.
void fill_standard_error() {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const int flags = ::fcntl(ends[1], F_GETFL);
  ::fcntl(ends[1], F_SETFL, flags | O_NONBLOCK);
  const std::string much(4096, 'x');
  while (::write(ends[1], much.data(), much.size()) > 0) {
  }
  ::fcntl(ends[1], F_SETFL, flags);
  ::dup2(ends[1], STDERR_FILENO);
}

/// Set when the disk hangs: the save that the command line names never ends.
std::promise<void> hangs;

/// The store of the node, which fails or hangs in the save that the command line names.
std::unique_ptr<SafeStorage> open(const Words& words, NodeId id) {
  if (value(words, "store") == "memory") return std::make_unique<storage::MemoryStorage>();
  const std::filesystem::path directory = value(words, "directory");
  auto opened =
      storage::SqliteStorage::open(directory / ("store" + std::to_string(id.value)), {"test", id});
  if (!opened) {
    std::cerr << opened.error().what << '\n';
    std::exit(static_cast<int>(opened.error().code));
  }
  const int failing = std::stoi(value(words, "fail_save", "0"));
  const int hanging = std::stoi(value(words, "hang_save", "0"));
  const auto before = [failing, hanging, saves = 0](const SafeState&) mutable -> Expected<> {
    if (++saves == failing) return Failure{ExitCode::io_error, "cannot write safe.sqlite: gone"};
    if (saves == hanging) {
      hangs.set_value();
      for (;;) ::pause();
    }
    return {};
  };
  return std::make_unique<test::Watched>(std::move(*opened), test::Before{before});
}

}  // namespace

int main(int count, char** arguments) {
  ::signal(SIGPIPE, SIG_IGN);
  Words words;
  for (int at = 1; at < count; ++at) {
    const std::string word = arguments[at];
    const std::size_t equals = word.find('=');
    words[word.substr(0, equals)] = equals == std::string::npos ? "" : word.substr(equals + 1);
  }
  if (words.contains("full_stderr")) fill_standard_error();
  test::Bell bell;
  test::Stage stage(bell);
  net::NodeOptions options = node_options(words);
  const NodeId id = options.config.self;
  play(stage, id, words);
  test::Running running;
  test::Running hooks;  // ends before `running`, whose context its remaining work may use
  MakeApplication make = stage.make(id);
  if (value(words, "application") == "none") make = [](Services&) { return nullptr; };
  if (words.contains("throws"))
    make = [&](Services& services) { return throwing(services, value(words, "throws")); };
  if (value(words, "application") == "throw")
    make = [](Services&) -> std::unique_ptr<Application> {
      throw std::runtime_error("there is no lamp");
    };
  net::Node node(running.context, options, open(words, id), make, hooks.context.get_executor());
  if (const Expected<> started = node.start(); !started) {
    std::cerr << "muster: " << started.error().what << '\n';
    return static_cast<int>(started.error().code);
  }
  if (words.contains("hang_save")) hangs.get_future().wait();
  for (char word = 0; ::read(STDIN_FILENO, &word, 1) == 1;) {
    if (word == 'w') stage.services(id).write({std::string(600, 'k'), {}}, [] {});
    if (word == 'o') stage.services(id).write({"muster/history/1", {}}, [] {});
  }
  std::promise<void> left;
  node.leave([&] {
    if (value(words, "left") == "throw") throw std::runtime_error("as it was told");
    if (value(words, "left") == "memory") throw std::bad_alloc();
    left.set_value();
  });
  left.get_future().wait();
  running.halt();
  return 0;
}
