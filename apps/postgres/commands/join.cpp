#include "apps/postgres/commands/commands.hpp"
#include "apps/postgres/commands/databases.hpp"
#include "apps/postgres/perform/instance.hpp"
#include "apps/postgres/server/conf.hpp"

#include <muster/values/text.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <iostream>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace muster::postgres {
namespace {

/// With a node that is only just starting.
constexpr std::chrono::seconds patience{60};
constexpr auto between_attempts = std::chrono::milliseconds(250);

/// Clones from the first node that lets it.
class Join {
 public:
  Join(boost::asio::io_context& context, const InstanceOptions& options, std::vector<NodeId> from)
      : context_(context),
        instance_(context.get_executor(), options, [](const Happening&) {}),
        from_(std::move(from)) {}

  Expected<NodeId> clone() {
    try_next();
    context_.run();
    if (source_) return *source_;
    return Failure{ExitCode::unreachable, "no node's PostgreSQL gave a clone: " + why_not_};
  }

 private:
  void try_next() {
    if (tried_ == from_.size()) return;
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

  boost::asio::io_context& context_;
  Instance instance_;
  const std::vector<NodeId> from_;
  std::size_t tried_ = 0;  ///< of them
  std::optional<NodeId> source_;
  std::string why_not_;
};

/// The nodes that may have a database.
class Others {
 public:
  Others(const InstanceOptions& options, const std::vector<NodeId>& nodes)
      : databases_(options), copies_(options.copies()), nodes_(nodes) {}

  /// Whether a group has written to that of any; they are asked until one answers.
  Expected<bool> is_written() {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (true) {
      std::optional<bool> written;
      std::string why_not;
      for (const NodeId node : nodes_) {
        const auto said = databases_.written(node);
        if (said && said->copies && said->copies->generation > copies_.generation)
          return Failure{ExitCode::bad_configuration,
                         "the database of node " + to_text(node) + " was written by " +
                             to_words(*said->copies) + ", and this configuration is " +
                             to_words(copies_) + ": take the muster.toml that the nodes have now"};
        if (said)
          written = written.value_or(false) || said->by_group;
        else
          why_not +=
              (why_not.empty() ? "node " : "; node ") + to_text(node) + ": " + said.error().what;
      }
      if (written) return *written;
      if (std::chrono::steady_clock::now() > until)
        return Failure{ExitCode::unreachable,
                       "no node's PostgreSQL answers: " + why_not +
                           "; run a node that has the database, then join again"};
      // Its owner has taken the bundle of another cluster, or made its own anew.
      if (why_not.find("certificate verify failed") != std::string::npos)
        return Failure{ExitCode::bad_configuration,
                       "no node's PostgreSQL answers that this one believes: " + why_not +
                           "; its certificates have to be of the authority that theirs are of"};
      if (!std::exchange(waits_, true))
        std::cerr << "no node's PostgreSQL answers yet: " << why_not
                  << "; they are asked again for " << patience.count() << " s\n";
      std::this_thread::sleep_for(between_attempts);
    }
  }

 private:
  Databases databases_;
  const Copies copies_;
  const std::vector<NodeId>& nodes_;
  bool waits_ = false;
};

/// This node has taken part, and may have acknowledged what it has not any more.
bool has_taken_part(const apps::NodeConfig& config, const InstanceOptions& options) {
  std::error_code error;
  return std::filesystem::exists(config.data / "safe.sqlite", error) ||
         std::filesystem::exists(held_path(options), error);
}

int leave_to_group(const InstanceOptions& options) {
  if (const auto noted = write_note(options, Note{}); !noted) return apps::failed(noted.error());
  std::cout << "run this node: its database is cloned then from the primary of its group, and "
               "counts for nothing until it follows\n";
  return 0;
}

}  // namespace

// A clone of whoever answers counts as data: that is right before the first commit, and for a node
// that has never had any of it. Else the node may be one of those that held a commit, and what is
// cloned may not have it: then the node counts for nothing until its group's primary has mended it.
int join(const Flags& flags) {
  const auto config = node_of(flags);
  if (!config) return apps::failed(config.error());
  if (config->application.witness) {
    const std::string as = flags.user.empty() ? "" : " --user " + flags.user;
    std::cout << "a witness has no database; run this node: muster postgres run --config "
              << config->file.string() << as << '\n';
    return 0;
  }
  const auto options = empty_place(*config, flags);
  if (!options) return apps::failed(options.error());
  std::vector<NodeId> from;
  for (const auto& [id, address] : options->nodes)
    if (id != options->node && (flags.from == 0 || id.value == flags.from)) from.push_back(id);
  if (from.empty())
    return apps::failed({ExitCode::usage, "--from " + std::to_string(flags.from) +
                                              ": expected another node of [cluster.postgres]"});
  const auto until = std::chrono::steady_clock::now() + patience;
  while (true) {
    const auto written = Others(*options, from).is_written();
    if (!written) return apps::failed(written.error());
    if (*written || has_taken_part(*config, *options)) return leave_to_group(*options);
    boost::asio::io_context context(1);
    const auto source = Join(context, *options, from).clone();
    if (source) {
      std::cout << "the database of node " << to_text(*source) << " is cloned to "
                << options->data.string() << "; run this node\n";
      return 0;
    }
    // The first group may have promoted it meanwhile, which ends a clone.
    if (std::chrono::steady_clock::now() > until) return apps::failed(source.error());
    std::this_thread::sleep_for(between_attempts);
  }
}

}  // namespace muster::postgres
