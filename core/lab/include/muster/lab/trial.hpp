#pragma once

#include <muster/application.hpp>
#include <muster/protocol/view.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>

/// An application in one world of the lab, and what has to be true of all its nodes together.

namespace MUSTER_EXPORT muster {
namespace lab {

/// What a check can see of a world. A node that is not in nodes() is std::invalid_argument.
class WorldSeen {
 public:
  virtual ~WorldSeen() = default;

  [[nodiscard]] virtual Duration now() const = 0;
  [[nodiscard]] virtual const NodeSet& nodes() const = 0;
  [[nodiscard]] virtual bool is_up(NodeId node) const = 0;
  /// What everybody may see of it; status Down where it is not up.
  [[nodiscard]] virtual View view(NodeId node) const = 0;
  /// What its application says that it is; nothing of a node that is down.
  [[nodiscard]] virtual Shown shown(NodeId node) const = 0;
  /// The cells of the application that are durable.
  [[nodiscard]] virtual std::map<std::string, Bytes> cells(NodeId node) const = 0;
  /// The application of the present life; null where none of its hooks was called yet.
  [[nodiscard]] virtual Application* application(NodeId node) const = 0;
  /// Assertion 2, in one group, with somebody up.
  [[nodiscard]] virtual bool is_normal() const = 0;
};

/// One run of an application. What the two functions share (what was given to customers, say)
/// belongs to this run alone: hold it by a std::shared_ptr that both capture.
struct Trial {
  /// Makes the application of each life of each node.
  MakeApplication make_application;
  /// Asked once, when the run is over: in one sentence, what does not hold. May be left out.
  std::function<std::optional<std::string>(const WorldSeen&)> check = {};
};

/// Makes the trial of each run; called by several threads at once.
using MakeTrial = std::function<Trial()>;

}  // namespace lab
}  // namespace muster
