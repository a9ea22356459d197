#include "apps/programs/socket_program.hpp"

#include "apps/programs/child.hpp"

namespace muster::apps {

SocketProgram::SocketProgram(const NodeConfig& config, std::function<void()> give_up,
                             std::function<void(const std::string&)> warn)
    : config_(config),
      work_(context_.get_executor()),
      patience_(context_),
      socket_(context_.get_executor(), {config.self, config.cluster.ids(),
                                        config.application_socket().string(), std::move(give_up),
                                        config.application.program.empty() ? std::function<void()>()
                                                                           : [this] { end_soon(); },
                                        std::move(warn)}),
      thread_([this] { context_.run(); }) {}

SocketProgram::~SocketProgram() {
  leaving_ = true;
  ending_.request_stop();
  if (program_.joinable()) program_.join();
  context_.stop();
  thread_.join();
}

void SocketProgram::await(std::function<void()> registered) {
  socket_.await(std::move(registered));
  if (!config_.application.program.empty()) program_ = std::thread([this] { work(); });
}

// The program has left its socket, so it will most likely end by itself soon, and `work` will
// report how. If it does not end by itself, it is told to end.
void SocketProgram::end_soon() {
  patience_.expires_after(config_.cluster.timings.stop_deadline / 4);
  patience_.async_wait([this](auto error) {
    if (!error) ending_.request_stop();
  });
}

void SocketProgram::work() {
  ChildOptions options;
  options.command = config_.application.program;
  options.directory = config_.application.directory;
  options.environment = {"MUSTER_NODE=" + std::to_string(config_.self.value),
                         "MUSTER_SOCKET=" + config_.application_socket().string()};
  options.inherit = config_.application.inherit;
  options.grace = config_.cluster.timings.stop_deadline / 2;
  const std::string name = options.command.front();
  auto child = Child::launch(std::move(options));
  if (!child) return socket_.lose(child.error().what);
  const ChildEnd end = child->wait(ending_.get_token());
  if (!leaving_) socket_.lose(name + " " + describe_end(end.status));
}

}  // namespace muster::apps
