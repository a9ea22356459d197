#include "apps/postgres/commands/commands.hpp"
#include "apps/postgres/instance.hpp"

#include <muster/values/text.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <iostream>
#include <optional>
#include <utility>
#include <vector>

namespace muster::postgres {
namespace {

/// With a node that is only just starting.
constexpr auto patience = std::chrono::seconds(60);
constexpr auto between_attempts = std::chrono::milliseconds(250);

/// Clones from the first node that lets it, and asks them all again for a while.
class Join {
 public:
  Join(boost::asio::io_context& context, const InstanceOptions& options, std::vector<NodeId> from)
      : context_(context),
        instance_(context.get_executor(), options, [](const Happening&) {}),
        again_(context),
        from_(std::move(from)) {}

  Expected<NodeId> clone() {
    try_next();
    context_.run();
    if (source_) return *source_;
    return Failure{ExitCode::unreachable,
                   "no node's PostgreSQL gave a clone: " + why_not_ +
                       "; run a node that has the database, then join again"};
  }

 private:
  void try_next() {
    if (tried_ == from_.size()) return try_all_again();
    const NodeId node = from_[tried_++];
    instance_.perform({{}, Clone{node}}, [this, node](const Happening& happening) {
      const auto* const failed = std::get_if<Failed>(&happening.what);
      if (failed == nullptr) {
        source_ = node;
        return;
      }
      why_not_ += (why_not_.empty() ? "node " : "; node ") + to_text(node) + ": " + failed->why;
      try_next();
    });
  }

  void try_all_again() {
    if (std::chrono::steady_clock::now() > until_) return;
    if (!std::exchange(waits_, true))
      std::cerr << "no clone yet: " << why_not_ << "; they are asked again for " << patience.count()
                << " s\n";
    again_.expires_after(between_attempts);
    again_.async_wait([this](auto) {
      tried_ = 0;
      why_not_.clear();
      try_next();
    });
  }

  boost::asio::io_context& context_;
  Instance instance_;
  boost::asio::steady_timer again_;
  const std::vector<NodeId> from_;
  std::size_t tried_ = 0;  ///< of them, this time
  bool waits_ = false;
  const std::chrono::steady_clock::time_point until_ = std::chrono::steady_clock::now() + patience;
  std::optional<NodeId> source_;
  std::string why_not_;
};

}  // namespace

int join(const Flags& flags) {
  const auto config = node_of(flags);
  if (!config) return apps::failed(config.error());
  const auto options = empty_place(*config, flags);
  if (!options) return apps::failed(options.error());
  std::vector<NodeId> from;
  for (const auto& [id, address] : options->nodes)
    if (id != options->node && (flags.from == 0 || id.value == flags.from)) from.push_back(id);
  if (from.empty())
    return apps::failed({ExitCode::usage, "--from " + std::to_string(flags.from) +
                                              ": expected another node of [cluster.postgres]"});
  boost::asio::io_context context(1);
  const auto source = Join(context, *options, std::move(from)).clone();
  if (!source) return apps::failed(source.error());
  std::cout << "the database of node " << to_text(*source) << " is cloned to "
            << options->data.string() << "; run this node\n";
  return 0;
}

}  // namespace muster::postgres
