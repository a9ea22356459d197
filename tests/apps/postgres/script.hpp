#pragma once

#include "apps/postgres/decide/keeper.hpp"
#include "words.hpp"

#include <muster/values/text.hpp>

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace muster::postgres {
using muster::operator<<;
}

namespace muster::postgres::test {

using muster::test::says;

inline const NodeId one{1};
inline const NodeId two{2};
inline const NodeId three{3};
inline const GroupNumber group{5, NodeId{3}};
inline const Term row_of_group{group, two, 2, Lsn{31}};

inline const Conf writable{true, {}, false, {}};
/// The settings of a standby of node 2.
inline Conf follower(bool counts, GroupNumber in = group) {
  return {false, two, counts, in};
}

/// The holding of a standby, on the timeline of its row.
inline Holding held(std::uint64_t lsn = 20) {
  return {7, {{4, NodeId{3}}, one, 1, Lsn{10}}, Lsn{lsn}, 1, false};
}
inline Holding held_as_primary(std::uint64_t lsn = 20) {
  Holding holding = held(lsn);
  holding.primary = true;
  return holding;
}

/// Drives the keeper of node 1 of three step by step, and names the orders that the keeper gives.
class Script {
 public:
  explicit Script(Struck struck = {}) : Script(Copies{{one, two, three}, 2}, std::move(struck)) {}
  explicit Script(const Copies& copies, Struck struck = {})
      : settings_{one, copies, std::move(struck)} {}

  /// Applies one event of the present round. Returns the orders after it, such as "Configure,
  /// Begin".
  std::string after(AnyEvent what) { return after(keeper_.round, std::move(what)); }
  /// Applies several events in turn. Returns the orders after the last event.
  template <class... More>
  std::string after(AnyEvent first, AnyEvent second, More... more) {
    after(std::move(first));
    return after(std::move(second), AnyEvent(std::move(more))...);
  }
  /// Applies several events in turn. Returns the orders after each event, such as "Configure;
  /// Begin; nothing".
  template <class... Each>
  std::string after_each(Each... each) {
    std::string said;
    for (const AnyEvent& what : {AnyEvent(std::move(each))...}) {
      const std::string ordered = after(what);
      said += (said.empty() ? "" : "; ") + (ordered.empty() ? "nothing" : ordered);
    }
    return said;
  }
  /// Applies an event of any round, which can be an earlier round. Returns the orders after the
  /// event.
  std::string after(Round round, AnyEvent what) {
    std::string said;
    for (const Order& order : step(settings_, keeper_, {round, std::move(what)})) {
      if (std::holds_alternative<Show>(order.what)) continue;
      if (const auto* report = std::get_if<GiveReport>(&order.what)) reported_ = report->evidence;
      if (!said.empty()) said += ", ";
      said += alternative_name(order.what);
      last_ = order.what;
    }
    return said;
  }
  /// The last order.
  template <class What>
  [[nodiscard]] What ordered() const {
    return std::get<What>(last_.value());
  }
  [[nodiscard]] const Evidence& report() const { return reported_; }  ///< the last report
  [[nodiscard]] const Keeper& keeper() const { return keeper_; }

  // --- States from which tests start

  /// The keeper has begun, and has reported this holding.
  Script& reported(const Holding& holding = held()) {
    after(Loaded{}, Configured{}, StopCalled{}, Began{}, Seen{holding});
    return *this;
  }
  /// The node is a primary whose row is not copied yet.
  Script& row_written() {
    reported();
    after(StartCalled{group, {one, {}, ""}}, Promoted{}, MarkerWritten{row_of_group, Lsn{32}},
          Configured{}, ConfShown{});
    return *this;
  }
  /// The node is an open primary.
  Script& opened() {
    row_written();
    after(CopiesHold{}, Checkpointed{});
    return *this;
  }
  /// Stops the node, which is a primary. Returns its report.
  Holding reported_as_primary() {
    after(StopCalled{}, Configured{}, GateClosed{}, Seen{held_as_primary()});
    return std::get<Holding>(report());
  }
  /// The node follows node 2, and counts as a copy.
  Script& following() {
    reported();
    after(StartCalled{group, {two, {one}, ""}}, Configured{}, MarkerHeld{}, Configured{});
    return *this;
  }

 private:
  Settings settings_;
  Keeper keeper_;
  Evidence reported_;
  std::optional<What> last_;
};

}  // namespace muster::postgres::test
