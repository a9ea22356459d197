#pragma once

#include <muster/application.hpp>
#include <muster/protocol/view.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>

/// An application in one world of the lab, and the check of that world.

namespace MUSTER_EXPORT muster {
namespace lab {

/// The view of a world that a check gets.
///
/// @par Lifetime
/// The reference is valid during the call of the check only. Pointers from application() are valid
/// until the world runs again.
/// @par Thread safety
/// A world is used by one thread at a time.
/// @par Errors
/// A node that is not in nodes() throws std::invalid_argument.
class WorldSeen {
 public:
  virtual ~WorldSeen() = default;

  /// The simulated time since the world began.
  [[nodiscard]] virtual Duration now() const = 0;
  /// All nodes, up or down.
  [[nodiscard]] virtual const NodeSet& nodes() const = 0;
  /// True if a process of that node runs, or is paused.
  [[nodiscard]] virtual bool is_up(NodeId node) const = 0;
  /// The node's state as other nodes may see it. The status is Down if the node is not up.
  [[nodiscard]] virtual View view(NodeId node) const = 0;
  /// The state that the node's application shows; empty for a node that is down.
  [[nodiscard]] virtual Shown shown(NodeId node) const = 0;
  /// The durable cells of the node's application.
  [[nodiscard]] virtual std::map<std::string, Bytes> cells(NodeId node) const = 0;
  /// The application of the node's present life. Null if none of its hooks has been called yet.
  [[nodiscard]] virtual Application* application(NodeId node) const = 0;
  /// True if some node is up, and Assertion 2 holds of all nodes that are up, in one group.
  [[nodiscard]] virtual bool is_normal() const = 0;
};

/// One run of an application: the factory of its applications, and a check. The two functions may
/// share data, such as the results that were given to customers. This data belongs to the run
/// alone: hold it by a std::shared_ptr that both capture.
struct Trial {
  /// Makes the application of each life of each node.
  MakeApplication make_application;
  /// Called once, after the run. Returns one sentence about a failure, or none if nothing failed.
  /// May be empty.
  std::function<std::optional<std::string>(const WorldSeen&)> check = {};
};

/// Makes the trial of each run. Several threads call this function at the same time.
///
/// @par Example
///     const lab::MakeTrial make_trial = [] {
///       const auto given = std::make_shared<std::set<std::string>>();
///       lab::Trial trial;
///       trial.make_application = [given](Services& services) {
///         return std::make_unique<Invoices>(services, *given);
///       };
///       trial.check = [given](const lab::WorldSeen&) { return missing_in(*given); };
///       return trial;
///     };
using MakeTrial = std::function<Trial()>;

}  // namespace lab
}  // namespace muster
