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

/// A cluster whose nodes run one application: real nodes, or a world of the lab.

namespace muster::test {

struct HostOptions {
  std::uint32_t nodes = 3;
  std::optional<Duration> reorganize_deadline{};
  bool short_back_off = false;  ///< T as short as busy machines allow
};

class Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;

  virtual void start(std::uint32_t id) = 0;
  /// It fails, as by kill -9.
  virtual void kill(std::uint32_t id) = 0;
  /// Waits for it; fails the test with `what` when it does not come.
  virtual void await(const std::string& what, const std::function<bool()>& predicate) = 0;
  [[nodiscard]] virtual std::optional<View> view(std::uint32_t id) const = 0;
  [[nodiscard]] virtual std::vector<journal::Line> lines(std::uint32_t id) = 0;
  virtual Script& script() = 0;
  /// Ends all, and checks the journals: assertions and hook grammar.
  virtual void judge() = 0;

  /// So many begin, and form a group.
  void join_all(std::uint32_t nodes);
  /// Waits until exactly these are members of one group, all Normal.
  void await_group(const std::set<std::uint32_t>& members);
  /// "HOOK: WHY" for each hook of the node that has failed.
  std::vector<std::string> failures(std::uint32_t id);
};

/// A style, and where it is to run.
struct Case {
  Style style;
  bool in_the_lab = false;
  [[nodiscard]] std::unique_ptr<Host> host(HostOptions options = {}) const;
  friend std::ostream& operator<<(std::ostream& out, const Case& made) {
    return out << made.style << (made.in_the_lab ? " in the lab" : " on real nodes");
  }
};

std::vector<Case> every_case();
std::vector<Case> cases_with_done();   ///< in which a hook can drop its Done
std::vector<Case> cases_that_wait();   ///< in which a hook can wait for its cancellation
std::vector<Case> cases_in_the_lab();  ///< where a process that ends does not end the test

}  // namespace muster::test
