#include "storage/temporary_directory.hpp"

#include <muster/adapters.hpp>
#include <muster/net/admin.hpp>
#include <muster/net/node.hpp>
#include <muster/storage/sqlite_storage.hpp>

#include <boost/asio/thread_pool.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <thread>

// The cost of state in a reorganization: `hooks [TIMES] [PORT]`. Three real nodes run in this
// process, with safe storage on disk. The bench asks these nodes for an election again and again,
// and measures the time until the last node has started. It varies the size of reports, of
// definitions, and of the answers to the coordinator's questions.

namespace muster {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Sizes in bytes.
struct Sizes {
  std::size_t report = 0;
  std::size_t definition = 0;
  std::size_t answer = 0;  ///< each member's answer to the coordinator's question
};

/// Counts the nodes that have started for the newest group.
class Starts {
 public:
  void started(GroupNumber group) {
    const std::lock_guard lock(mutex_);
    if (newest_ != group) count_ = 0;
    newest_ = group;
    ++count_;
    last_ = Clock::now();
    changed_.notify_all();
  }
  /// Waits until three nodes have started for a group later than `later`.
  GroupNumber await(const std::optional<GroupNumber>& later) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 30s, [&] { return count_ == 3 && later < newest_; })) {
      std::cerr << "no group formed in 30 s\n";
      std::exit(1);
    }
    return *newest_;
  }
  [[nodiscard]] Clock::time_point last() {
    const std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  std::mutex mutex_;  // guards all members
  std::condition_variable changed_;
  std::optional<GroupNumber> newest_;
  int count_ = 0;
  Clock::time_point last_;
};

void reorganize(const Reorganization& all, Done<Definition> done, const Sizes& sizes) {
  const Definition definition{std::string(sizes.definition, 'd')};
  if (sizes.answer == 0) return done(definition);
  const auto kept = std::make_shared<Done<Definition>>(std::move(done));
  const auto left = std::make_shared<std::size_t>(all.members.size());
  for (const Member& member : all.members)
    all.ask(member.node, {}, [kept, left, definition](const Done<Bytes>::Outcome& answer) {
      if (!answer) return kept->fail(answer.error());
      if (--*left == 0) (*kept)(definition);
    });
}

struct Machine {
  explicit Machine(net::NodeOptions options, const std::filesystem::path& directory,
                   const MakeApplication& make)
      : node(context, options,
             storage::SqliteStorage::open(directory, {"bench", options.config.self}).value(), make,
             hooks.get_executor()) {
    node.start().value();
    thread = std::thread([this] { context.run(); });
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() {
    context.stop();
    thread.join();
  }
  boost::asio::io_context context;
  boost::asio::thread_pool hooks{1};
  net::Node node;
  std::thread thread;
};

double median_ms(const Sizes& sizes, int times, std::uint16_t port) {
  const test::TemporaryDirectory directory;
  Starts starts;
  const MakeApplication make = [&](Services&) {
    return make_application(AsynchronousFunctions{
        .stop = [&](const StopContext&,
                    Done<Report> done) { done({std::string(sizes.report, 'r')}); },
        .reorganize = [&](const Reorganization& all,
                          Done<Definition> done) { reorganize(all, std::move(done), sizes); },
        .start =
            [&](const Assignment& task, Done<> done) {
              starts.started(task.group);
              done();
            },
        .answer = [&](const Question&,
                      Done<Bytes> done) { done({std::string(sizes.answer, 'a')}); }});
  };
  std::vector<std::unique_ptr<Machine>> machines;
  const auto socket = [&](std::uint32_t id) {
    return (directory.path() / (std::to_string(id) + ".sock")).string();
  };
  for (std::uint32_t id = 1; id <= 3; ++id) {
    net::NodeOptions options{};
    options.config.self = NodeId{id};
    for (std::uint32_t other = 1; other <= 3; ++other) {
      options.config.nodes.insert(NodeId{other});
      options.network.addresses[NodeId{other}] = "127.0.0.1:" + std::to_string(port + other);
    }
    options.config.timings.T = 1s;
    options.config.timings.coordinator_timeout = 2s;
    options.admin.socket = socket(id);
    machines.push_back(
        std::make_unique<Machine>(options, directory.path() / ("n" + std::to_string(id)), make));
  }
  std::optional<GroupNumber> group = starts.await(std::nullopt);
  std::vector<double> took;
  for (int i = 0; i < times; ++i) {
    // The node refuses this request until it has processed its own `Started` event.
    Clock::time_point asked;
    do asked = Clock::now();
    while (net::ask_admin(socket(3), 5s, "elect bench").value() != "{}");
    group = starts.await(group);
    took.push_back(std::chrono::duration<double, std::milli>(starts.last() - asked).count());
  }
  std::sort(took.begin(), took.end());
  return took[took.size() / 2];
}

int run(int times, std::uint16_t port) {
  const auto row = [&](const char* what, const Sizes& sizes) {
    std::cout << what << ": median " << median_ms(sizes, times, port) << " ms" << std::endl;
  };
  row("nothing", {});
  row("reports of 1 KiB", {.report = 1024});
  row("reports of 32 KiB", {.report = 32 * 1024});
  row("a definition of 1 KiB", {.definition = 1024});
  row("a definition of 32 KiB", {.definition = 30 * 1024});
  row("answers of 32 KiB", {.answer = 32 * 1024});
  row("answers of 1 MiB", {.answer = 1024 * 1024});
  row("answers of 16 MiB", {.answer = 16 * 1024 * 1024});
  return 0;
}

}  // namespace
}  // namespace muster

int main(int count, char** arguments) {
  return muster::run(count > 1 ? std::atoi(arguments[1]) : 51,
                     static_cast<std::uint16_t>(count > 2 ? std::atoi(arguments[2]) : 17300));
}
