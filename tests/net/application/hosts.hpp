#pragma once

#include "net/node/cluster.hpp"
#include "styles.hpp"

#include <muster/lab/world.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

/// A cluster whose nodes run one application, either real nodes or a world of the lab.

namespace muster::test {

struct HostOptions {
  std::uint32_t nodes = 3;
  std::optional<Duration> reorganize_deadline{};
  bool short_back_off = false;  ///< uses the shortest T that busy machines allow
};

class Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;

  virtual void start(std::uint32_t id) = 0;
  /// Makes the node fail, as kill -9 would.
  virtual void kill(std::uint32_t id) = 0;
  /// Waits until `predicate` holds. Fails the test with `what` if it never does.
  virtual void await(const std::string& what, const std::function<bool()>& predicate) = 0;
  [[nodiscard]] virtual std::optional<View> view(std::uint32_t id) const = 0;
  [[nodiscard]] virtual std::vector<journal::Line> lines(std::uint32_t id) = 0;
  virtual Script& script() = 0;
  /// Ends all nodes, and checks the journals: assertions and hook grammar.
  virtual void judge() = 0;

  /// Starts the nodes 1 to `nodes`, and waits until they form a group.
  void join_all(std::uint32_t nodes);
  /// Waits until exactly these nodes are members of one group, all Normal.
  void await_group(const std::set<std::uint32_t>& members);
  /// For each failed hook of the node, in order, the text "HOOK: WHY".
  std::vector<std::string> failures(std::uint32_t id);
};

/// A style of application, and the kind of host on which the test runs it.
struct Case {
  Style style;
  bool in_the_lab = false;
  [[nodiscard]] std::unique_ptr<Host> host(HostOptions options = {}) const;
  friend std::ostream& operator<<(std::ostream& out, const Case& made) {
    return out << made.style << (made.in_the_lab ? " in the lab" : " on real nodes");
  }
};

std::vector<Case> every_case();
std::vector<Case> cases_with_done();   ///< styles in which a hook can drop its Done
std::vector<Case> cases_that_wait();   ///< styles in which a hook can wait for its cancellation
std::vector<Case> cases_in_the_lab();  ///< styles for which the end of the application's process
                                       ///< does not end the test

}  // namespace muster::test
