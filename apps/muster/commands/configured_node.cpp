#include "apps/muster/commands/configured_node.hpp"

#include "apps/base/pipes.hpp"
#include "apps/hosting/run_node.hpp"
#include "apps/programs/hook_application.hpp"
#include "apps/shards/shards.hpp"

#include <memory>

namespace muster::apps {
namespace {

/// Hooks that return at once, for a node without an application.
class NoApplication : public Application {
 public:
  void stop(StopContext, Done<Report> done) override { done(); }
  void reorganize(Reorganization, Done<Definition> done) override { done(); }
  void start(Assignment, Done<> done) override { done(); }
};

MakeApplication application_of(const NodeConfig& config) {
  if (config.hooks) return make_hooks({*config.hooks, config.data, config.cluster.timings});
  if (config.application.kind == "shards") {
    return make_shards(
        {config.application.records_per_second, descriptor_in(record_pipe_variable), shard_count});
  }
  return [](Services&) { return std::make_unique<NoApplication>(); };
}

}  // namespace

int run_configured_node(const NodeConfig& config, bool initialise) {
  if (config.application.kind == "postgres")
    return failed_to_begin({ExitCode::bad_configuration,
                            config.file.string() + " has kind = \"postgres\" in [application]: "
                                                   "run it with muster postgres run"});
  if (config.application.kind == "socket") return run_socket_node(config, initialise);
  return run_node(config, initialise, application_of(config));
}

}  // namespace muster::apps
