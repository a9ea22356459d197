#include "apps/hosting/run_node.hpp"

#include "apps/base/failed.hpp"
#include "apps/base/pipes.hpp"
#include "apps/base/supervisor.hpp"
#include "apps/base/text.hpp"
#include "apps/hosting/one_node.hpp"
#include "apps/programs/socket_program.hpp"

#include <muster/net/log.hpp>
#include <muster/net/node.hpp>
#include <muster/net/say.hpp>
#include <muster/net/sockets_end_first.hpp>
#include <muster/storage/sqlite_storage.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <unistd.h>

#include <array>
#include <csignal>
#include <iostream>
#include <thread>
#include <utility>

namespace muster::apps {
namespace {

/// Reads the configuration file again. Returns the settings that a running node can change, and in
/// `at_next_start` the names of other settings that have changed.
Expected<net::Changes> changes_since(const NodeConfig& before) {
  const auto now = load_config(before.file, Look::at_files);
  if (!now) return now.error();
  net::Changes changes;
  changes.log_level = now->log.level;
  changes.log_format = before.log.format_was_told ? before.log.format : now->log.format;
  if (now->http) changes.http = net::HttpOptions{now->http->listen.text(), now->http->insecure};
  if (const auto& journal = now->journal ? now->journal : before.journal) {
    changes.journal_limit = journal->limit;
    changes.journal_keep = journal->keep;
  }
  for (const std::string& key : keys_that_differ(before, *now)) {
    const bool heeded =
        key.starts_with("log.") || (before.http && now->http && key.starts_with("http.")) ||
        (before.journal && now->journal && (key == "journal.limit" || key == "journal.keep"));
    if (!heeded) changes.at_next_start += (changes.at_next_start.empty() ? "" : ", ") + key;
  }
  return changes;
}

net::NodeOptions options_of(const NodeConfig& config, bool initialise) {
  net::NodeOptions options;
  options.config = config.core();
  for (const auto& [id, address] : config.cluster.nodes)
    options.network.addresses[id] = address.text();
  if (config.listen) options.network.listen = config.listen->text();
  options.network.insecure = config.cluster.insecure;
  options.network.tls = config.tls;
  options.cluster = config.cluster.canonical();
  options.network.proofs = config.cluster.proofs;
  options.lives.hold_down = config.cluster.hold_down;
  options.lives.calm = config.cluster.calm;
  options.admin.socket = config.admin_socket();
  if (config.http)
    options.http = net::HttpOptions{config.http->listen.text(), config.http->insecure};
  if (config.journal)
    options.journal = net::JournalOptions{config.journal->file, config.journal->limit,
                                          config.journal->keep, config.journal->detail};
  options.log.level = config.log.level;
  options.log.format = config.log.format;
  options.lives.initialise = initialise;
  options.admin.read_again = [before = config] { return changes_since(before); };
  return options;
}

/// The warning for a protocol that is only for comparison; null for the others.
const char* warning_of(ProtocolName protocol) {
  if (protocol != ProtocolName::textbook) return nullptr;
  return "protocol = \"textbook\" is only for comparison: nodes go on working "
         "with an outdated view, and accept a late Coordinator message; use \"bully\" or "
         "\"invitation\" for anything that matters";
}

/// Logs why the node ends, and returns the exit code.
int failed_node(const NodeConfig& config, const Failure& failure) {
  const int code = static_cast<int>(failure.code);
  say_in_log(config, LogLevel::error, failure.what + " (exit code " + std::to_string(code) + ")");
  return code;
}

/// Runs the hooks, one at a time, on a thread of their own.
class HookThread {
 public:
  HookThread() : work_(context_.get_executor()), thread_([this] { context_.run(); }) {}
  ~HookThread() {
    context_.stop();
    thread_.join();
  }
  HookThread(const HookThread&) = delete;
  HookThread& operator=(const HookThread&) = delete;
  boost::asio::io_context::executor_type executor() { return context_.get_executor(); }

 private:
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

/// The first SIGTERM or SIGINT lets the node leave in order, the second ends the process at once.
/// SIGUSR1, which this process sends to itself, also lets it leave, and never ends it at once.
/// SIGHUP reloads the configuration; because a closed terminal sends it too, it never ends the
/// process.
class Signals {
 public:
  Signals(boost::asio::io_context& context, std::function<void()> leave,
          std::function<void()> reload)
      : leave_(std::move(leave)),
        reload_(std::move(reload)),
        signals_(context, SIGTERM, SIGINT, SIGUSR1) {
    signals_.add(SIGHUP);
    wait();
    unblock();
  }
  ~Signals() {
    signals_.clear();
    ignore_hangup();
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// Ignores SIGHUP while no object of this class handles it.
  static void ignore_hangup() { std::signal(SIGHUP, SIG_IGN); }

 private:
  void wait() {
    signals_.async_wait([this](const boost::system::error_code& error, int number) {
      if (!error) take(number);
    });
  }
  /// Unblocks the signals, which the launching process may have blocked.
  static void unblock() {
    sigset_t held;
    sigemptyset(&held);
    for (int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&held, number);
    pthread_sigmask(SIG_UNBLOCK, &held, nullptr);
  }
  void take(int number) {
    if (number == SIGHUP) reload_();
    if (number == SIGHUP || (leaving_ && number == SIGUSR1)) return wait();
    if (leaving_) {
      std::signal(number, SIG_DFL);
      std::raise(number);
    }
    leaving_ = true;
    leave_();
    wait();
  }

  std::function<void()> leave_;
  std::function<void()> reload_;
  boost::asio::signal_set signals_;
  bool leaving_ = false;
};

/// Kills this process when the process that started the nodes ends: the kernel then closes that
/// process's end of a pipe.
class DeathPipe {
 public:
  explicit DeathPipe(boost::asio::io_context& context) : pipe_(context) {
    const int fd = descriptor_in(death_pipe_variable);
    if (fd < 0) return;
    pipe_.assign(fd);
    pipe_.async_read_some(boost::asio::buffer(byte_),
                          [](const boost::system::error_code& error, std::size_t) {
                            if (error != boost::asio::error::operation_aborted) std::raise(SIGKILL);
                          });
  }

 private:
  boost::asio::posix::stream_descriptor pipe_;
  std::array<char, 1> byte_{};
};

/// The supervisor that started this process, such as systemd. The first call changes the
/// environment, so it has to come before a second thread exists.
const Supervisor& supervisor() {
  static const Supervisor one = Supervisor::from_environment();
  return one;
}

/// Tells the supervisor the node's state, and that the node's loop still turns. The report runs on
/// that loop. So while reports arrive, the loop can also run steps of the protocol.
class Reports {
 public:
  Reports(boost::asio::io_context& context, const net::Node& node) : node_(node), timer_(context) {
    if (supervisor().is_there()) report();
  }
  void begins() { begun_ = true; }
  static void is_up() { supervisor().tell("READY=1"); }
  static void leaves() { supervisor().tell("STOPPING=1"); }

 private:
  void report() {
    std::string lines = supervisor().patience() ? "WATCHDOG=1\n" : "";
    if (std::string words = this->words(); words != told_)
      lines += "STATUS=" + (told_ = std::move(words));
    if (!lines.empty()) supervisor().tell(lines);
    constexpr Duration usual = std::chrono::seconds(1);
    timer_.expires_after(std::min(usual, supervisor().patience().value_or(usual) / 2));
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (!error) report();
    });
  }
  [[nodiscard]] std::string words() const {
    const auto status = parse_status(node_.status_json());
    return begun_ && status ? in_words(*status) : "waits to begin";
  }

  const net::Node& node_;
  boost::asio::steady_timer timer_;
  std::string told_;
  bool begun_ = false;
};

/// Calls `begin` when the node may begin, at once or later, on any thread.
using Await = std::function<void(std::function<void()> begin)>;

int host(boost::asio::io_context& context, const NodeConfig& config, bool initialise,
         std::unique_ptr<SafeStorage> storage, const MakeApplication& application,
         const Await& await) {
  // The hooks' thread has to end before the context is destroyed: the end of the thread drops work
  // that still waits on it, and this work refers to strands of the context.
  HookThread hooks;
  net::Node node(context, options_of(config, initialise), std::move(storage), application,
                 hooks.executor());
  if (const char* warning = warning_of(config.cluster.protocol))
    say_in_log(config, LogLevel::warning, warning);
  Reports reports(context, node);
  bool begun = false;
  Expected<> started;
  Signals signals(
      context,
      [&] {
        Reports::leaves();
        if (begun)
          node.leave([&context] { context.stop(); });
        else
          context.stop();
      },
      [&node] { node.reload(); });
  DeathPipe death(context);
  const std::function<void()> begin = [&] {
    begun = true;
    reports.begins();
    started = node.start([&] {
      Reports::is_up();
      net::say(STDOUT_FILENO, "node " + std::to_string(config.self.value) + " of " +
                                  config.cluster.name + " is up on " +
                                  config.cluster.nodes.at(config.self).text() +
                                  "; muster status --dir " + config.data.string() + "\n");
    });
    if (!started) context.stop();
  };
  await([&context, begin] { boost::asio::post(context, begin); });
  context.run();
  return started ? 0 : failed_node(config, started.error());
}

auto open_storage(const NodeConfig& config) {
  return storage::SqliteStorage::open(config.data, {config.cluster.name, config.self});
}

}  // namespace

void begin_alone(const NodeConfig& config) {
  static bool begun = false;
  if (std::exchange(begun, true)) return;
  Signals::ignore_hangup();
  supervisor();
  if (const auto first = net::let_sockets_end_first(); !first)
    say_in_log(config, LogLevel::warning, first.error().what);
}

void say_in_log(const NodeConfig& config, LogLevel level, const std::string& sentence) {
  if (level > config.log.level) return;
  net::say_in_log(config.log.format, level, config.self, sentence);
}

int failed_to_begin(const Failure& failure) {
  return failed(failure, std::cerr << net::journal_priority(LogLevel::error));
}

int run_node(const NodeConfig& config, bool initialise, const MakeApplication& application) {
  return run_node(config, initialise,
                  [&application] { return Expected<MakeApplication>(application); });
}

int run_node(const NodeConfig& config, bool initialise,
             const std::function<Expected<MakeApplication>()>& prepare) {
  begin_alone(config);
  auto storage = open_storage(config);
  if (!storage) return failed_node(config, storage.error());
  const auto application = prepare();
  if (!application) return failed_node(config, application.error());
  boost::asio::io_context context(1);
  return host(context, config, initialise, std::move(*storage), *application,
              [](const std::function<void()>& begin) { begin(); });
}

int run_socket_node(const NodeConfig& config, bool initialise) {
  begin_alone(config);
  auto storage = open_storage(config);
  if (!storage) return failed_node(config, storage.error());
  boost::asio::io_context context(1);  // the program can register after the node has left
  SocketProgram program(
      config, [] { ::kill(::getpid(), SIGUSR1); },
      [&config](const std::string& said) { say_in_log(config, LogLevel::warning, said); });
  if (const auto listening = program.listen(); !listening)
    return failed_node(config, listening.error());
  const int code = host(context, config, initialise, std::move(*storage), program.application(),
                        [&](std::function<void()> begin) {
                          net::say(STDOUT_FILENO, "node " + std::to_string(config.self.value) +
                                                      " waits for its program at " +
                                                      config.application_socket().string() + "\n");
                          program.await(std::move(begin));
                        });
  if (const auto lost = program.lost(); lost && code == 0)
    return failed_node(config, {ExitCode::hook_failed,
                                "node " + std::to_string(config.self.value) + ": " + *lost});
  return code;
}

}  // namespace muster::apps
