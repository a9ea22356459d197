#include "apps/postgres/server/children.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace muster::postgres {
namespace {

constexpr std::size_t most_of_output = 1 << 14;

/// A thread that never ends, and forks on request.
class LastingThread {
 public:
  LastingThread() {
    std::thread([this] { serve(); }).detach();
  }

  Expected<apps::Process> launch(const apps::ProcessOptions& options) {
    const std::lock_guard turn(turns_);
    std::unique_lock lock(mutex_);
    wanted_ = &options;
    changed_.notify_all();
    changed_.wait(lock, [this] { return launched_.has_value(); });
    Expected<apps::Process> launched = std::move(*launched_);
    launched_.reset();
    return launched;
  }

 private:
  [[noreturn]] void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return wanted_ != nullptr; });
      launched_.emplace(apps::Process::launch(*std::exchange(wanted_, nullptr)));
      changed_.notify_all();
    }
  }

  std::mutex turns_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const apps::ProcessOptions* wanted_ = nullptr;
  std::optional<Expected<apps::Process>> launched_;
};

}  // namespace

Expected<apps::Process> launch_from_lasting_thread(const apps::ProcessOptions& options) {
  // This object is never destroyed, since its thread is never joined.
  static auto* const thread = new LastingThread;
  return thread->launch(options);
}

std::string telling_line(std::string_view text) {
  std::string_view last;
  std::string_view error;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    last = line;
    for (const char* word : {"error: ", "fatal: ", "FATAL: ", "PANIC: "}) {
      if (line.find(word) != std::string_view::npos) error = line;
    }
  }
  return std::string(error.empty() ? last : error);
}

class Tool::Running : public std::enable_shared_from_this<Tool::Running> {
 public:
  Running(const Executor& executor, std::function<void(Expected<>)> ended)
      : executor_(executor), output_(executor), ended_(std::move(ended)) {}

  void start(apps::ProcessOptions options) {
    name_ = options.program.filename().string();
    auto pipe = apps::make_pipe();
    if (!pipe) return end_later(pipe.error());
    // If the caller does not want the output, it goes to /dev/null, so no pipe can fill up.
    const apps::Descriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    const auto [input, output, errors] = options.standard;
    options.standard = {input, output < 0 ? nowhere.fd() : output, pipe->write.fd()};
    auto launched = launch_from_lasting_thread(options);
    if (!launched) return end_later(launched.error());
    process_.emplace(std::move(*launched));
    const int ours = fcntl(pipe->read.fd(), F_DUPFD_CLOEXEC, 0);
    if (ours < 0)
      return end_later({ExitCode::temporary, "no file descriptor is left for " + name_});
    output_.assign(ours);
    output_.non_blocking(true);
    read();
    end_of_process_.emplace(executor_, process_->pid(), [this] { end(); });
  }

 private:
  void read() {
    output_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                       [weak = weak_from_this()](auto error) {
                         const auto self = weak.lock();
                         if (self && !error && self->take_in()) self->read();
                       });
  }

  /// Reads a part of the program's output. Returns false at the end of the output.
  bool take_in() {
    std::array<char, 4096> buffer;
    boost::system::error_code error;
    while (true) {
      const std::size_t size = output_.read_some(boost::asio::buffer(buffer), error);
      if (error) return error == boost::asio::error::would_block;
      said_.append(buffer.data(), size);
      if (said_.size() > most_of_output) said_.erase(0, said_.size() - most_of_output);
    }
  }

  void end() {
    const auto self = shared_from_this();
    take_in();
    const int status = process_->wait();
    if (status == 0) return ended_({});
    const std::string line = telling_line(said_);
    ended_(Failure{ExitCode::hook_failed,
                   name_ + " " + apps::describe_end(status) + (line.empty() ? "" : ": " + line)});
  }

  void end_later(Failure failure) {
    boost::asio::post(executor_, [weak = weak_from_this(), failure = std::move(failure)] {
      if (const auto self = weak.lock()) self->ended_(failure);
    });
  }

  Executor executor_;
  std::string name_;
  std::string said_;
  boost::asio::posix::stream_descriptor output_;
  std::optional<apps::Process> process_;
  std::optional<EndOfProcess> end_of_process_;
  std::function<void(Expected<>)> ended_;
};

Tool::Tool(const Executor& executor, apps::ProcessOptions options,
           std::function<void(Expected<>)> ended)
    : running_(std::make_shared<Running>(executor, std::move(ended))) {
  running_->start(std::move(options));
}

Tool::~Tool() = default;

}  // namespace muster::postgres
