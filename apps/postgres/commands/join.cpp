#include "apps/postgres/commands/commands.hpp"
#include "apps/postgres/commands/databases.hpp"
#include "apps/postgres/perform/instance.hpp"
#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/marker.hpp"
#include "apps/postgres/server/rows.hpp"

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

/// How long `join` waits for another node, which may only just be starting.
constexpr std::chrono::seconds join_patience{60};
constexpr auto between_rounds = std::chrono::milliseconds(250);

/// Clones from the first node that allows it.
class Join {
 public:
  Join(boost::asio::io_context& context, const InstanceOptions& options, std::vector<NodeId> from)
      : context_(context),
        instance_(context.get_executor(), options, [](const KeeperEvent&) {}),
        from_(std::move(from)) {}

  Expected<NodeId> clone() {
    try_next();
    context_.run();
    if (source_) return *source_;
    return Failure{ExitCode::unreachable,
                   "the database could not be cloned from any node: " + why_not_};
  }

 private:
  void try_next() {
    if (tried_ == from_.size()) return;
    const NodeId node = from_[tried_++];
    instance_.perform({{}, Clone{node}}, [this, node](const KeeperEvent& event) {
      const auto* const failed = std::get_if<Failed>(&event.what);
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
  std::size_t tried_ = 0;  ///< how many of them were tried
  std::optional<NodeId> source_;
  std::string why_not_;
};

/// The nodes that may have a database.
class Others {
 public:
  Others(const apps::NodeConfig& config, const InstanceOptions& options,
         const std::vector<NodeId>& nodes)
      : key_(config.application.marker_key),
        options_(options),
        databases_(options),
        copies_(options.copies()),
        nodes_(nodes) {}

  /// True if a group has written to any of their databases. Asks until one of the nodes answers.
  Expected<bool> is_written() {
    const auto until = std::chrono::steady_clock::now() + join_patience;
    while (true) {
      std::optional<bool> written;
      std::string why_not;
      for (const NodeId node : nodes_) {
        const auto said = databases_.written(node);
        if (const auto its = said ? look_at_key(node) : Expected<>(); !its) return its.error();
        if (said && said->copies && said->copies->generation > copies_.generation)
          return Failure{ExitCode::bad_configuration,
                         "the database of node " + to_text(node) +
                             " was written with the node list of " + to_words(*said->copies) +
                             ", but this configuration has " + to_words(copies_) +
                             ": use the muster.toml that the other nodes have now"};
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
                           "; start a node that has the database, then join again"};
      // The operator may have installed the bundle of another cluster, or a bundle that a new
      // authority has signed.
      if (why_not.find("certificate verify failed") != std::string::npos)
        return Failure{
            ExitCode::bad_configuration,
            "this node does not trust the certificates of the other nodes' PostgreSQL: " + why_not +
                "; use a bundle of the authority that signed theirs"};
      if (!std::exchange(waits_, true))
        std::cerr << "no node's PostgreSQL answers yet: " << why_not << "; trying again for "
                  << join_patience.count() << " s\n";
      std::this_thread::sleep_for(between_rounds);
    }
  }

  /// Writes what the source of the clone knows of the terms of its cluster. If it does not answer
  /// any more, this node learns that later, from the primary of its group.
  Expected<> take_terms(NodeId source) {
    const auto said = databases_.ask(source, std::string("SELECT ") + known_terms_there);
    const std::string text = said ? text_in(said->rows.at(0), 0) : "";
    if (text.empty()) return {};
    const auto known = known_terms_in(text);
    if (!known) return known.error();
    if (const auto learned = learn_terms(options_, *known); !learned) return learned.error();
    return {};
  }

 private:
  // With another key, this node would find no marker in its log, and would never count.
  Expected<> look_at_key(NodeId node) {
    const auto said = databases_.ask(node, std::string("SELECT ") + marker_keys_there);
    const std::string theirs = said ? text_in(said->rows.at(0), 0) : "";
    if (theirs.empty() || options_.marker_keys.have_one_of(theirs)) return {};
    return Failure{
        ExitCode::bad_configuration,
        (options_.marker_keys.empty()
             ? "this node has no marker key: "
             : "this node has another marker key than node " + to_text(node) + ": ") +
            "copy the file that node " + to_text(node) + " has for it to " + key_.string() +
            ", owned by the user that runs PostgreSQL and with mode 0600 (marker_key in "
            "[application] names it; it is marker.key beside the data directory otherwise)"};
  }

  const std::filesystem::path key_;
  const InstanceOptions& options_;
  Databases databases_;
  const Copies copies_;
  const std::vector<NodeId>& nodes_;
  bool waits_ = false;
};

/// True if this node has taken part before. Such a node may have acknowledged commits that its data
/// no longer contains.
bool has_taken_part(const apps::NodeConfig& config, const InstanceOptions& options) {
  std::error_code error;
  return std::filesystem::exists(config.data / "safe.sqlite", error) ||
         std::filesystem::exists(held_path(options), error);
}

int leave_to_group(const InstanceOptions& options) {
  if (const auto noted = write_note(options, Note{}); !noted) return apps::failed(noted.error());
  std::cout << "next: run this node; it then clones its database from the primary of its group, "
               "and its data is ignored until it follows\n";
  return 0;
}

}  // namespace

// Before the first commit, this node may clone any node that answers, and the clone counts as data.
// After the first commit, or if this node has taken part before, it may be one of the W nodes that
// held a commit which the clone lacks. Such a node must not count until it has cloned its group's
// primary. Otherwise R reports could all lack an acknowledged commit.
int join(const Flags& flags) {
  const auto config = node_of(flags);
  if (!config) return apps::failed(config.error());
  if (config->application.witness) {
    const std::string as = flags.user.empty() ? "" : " --user " + flags.user;
    std::cout << "nothing is cloned, because a witness has no database; next: run this node: "
                 "muster postgres run --config "
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
  const auto until = std::chrono::steady_clock::now() + join_patience;
  while (true) {
    const auto written = Others(*config, *options, from).is_written();
    if (!written) return apps::failed(written.error());
    if (*written || has_taken_part(*config, *options)) return leave_to_group(*options);
    boost::asio::io_context context(1);
    const auto source = Join(context, *options, from).clone();
    if (source) {
      if (const auto learned = Others(*config, *options, from).take_terms(*source); !learned)
        return apps::failed(learned.error());
      std::cout << "the database of node " << to_text(*source) << " has been cloned to "
                << options->data.string() << "; next: run this node\n";
      return 0;
    }
    // The clone may have failed because the first group promoted the node that was cloned.
    if (std::chrono::steady_clock::now() > until) return apps::failed(source.error());
    std::this_thread::sleep_for(between_rounds);
  }
}

}  // namespace muster::postgres
