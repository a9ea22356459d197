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

/// What a node holds as a standby, on the timeline of its row.
inline Holding held(std::uint64_t lsn = 20) {
  return {7, {{4, NodeId{3}}, one, 1, Lsn{10}}, Lsn{lsn}, 1, false};
}
inline Holding held_as_primary(std::uint64_t lsn = 20) {
  Holding holding = held(lsn);
  holding.primary = true;
  return holding;
}

/// Node 1 of three, step by step: what it orders, by name.
class Script {
 public:
  explicit Script(Struck struck = {}) : Script(Copies{{one, two, three}, 2}, std::move(struck)) {}
  explicit Script(const Copies& copies, Struck struck = {})
      : settings_{one, copies, std::move(struck)} {}

  /// That happens, of the present round: "Configure, Begin".
  std::string after(HasHappened what) { return after(keeper_.round, std::move(what)); }
  /// One after the other: what is ordered after the last.
  template <class... More>
  std::string after(HasHappened first, HasHappened second, More... more) {
    after(std::move(first));
    return after(std::move(second), HasHappened(std::move(more))...);
  }
  /// One after the other: what is ordered after each, "Configure; Begin; nothing".
  template <class... Each>
  std::string after_each(Each... each) {
    std::string said;
    for (const HasHappened& what : {HasHappened(std::move(each))...}) {
      const std::string ordered = after(what);
      said += (said.empty() ? "" : "; ") + (ordered.empty() ? "nothing" : ordered);
    }
    return said;
  }
  /// That happens late.
  std::string after(Round round, HasHappened what) {
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
  [[nodiscard]] const Evidence& report() const { return reported_; }  ///< last
  [[nodiscard]] const Keeper& keeper() const { return keeper_; }

  // --- What tests begin with

  /// It has begun, and has reported that.
  Script& reported(const Holding& holding = held()) {
    after(Loaded{}, Configured{}, StopCalled{}, Began{}, Seen{holding});
    return *this;
  }
  /// It is a primary whose row is not copied yet.
  Script& row_written() {
    reported();
    after(StartCalled{group, {one, {}, ""}}, Promoted{}, TermWritten{row_of_group, Lsn{32}});
    return *this;
  }
  /// It is an open primary.
  Script& opened() {
    row_written();
    after(CopiesHold{}, Configured{}, NamesShown{}, Kicked{}, Checkpointed{});
    return *this;
  }
  /// What it reports when it is stopped as a primary.
  Holding reported_as_primary() {
    after(StopCalled{}, Configured{}, NamesShown{}, WalsendersGone{}, Seen{held_as_primary()});
    return std::get<Holding>(report());
  }
  /// It follows node 2.
  Script& following() {
    reported();
    after(StartCalled{group, {two, {one}, ""}}, Configured{});
    return *this;
  }

 private:
  Settings settings_;
  Keeper keeper_;
  Evidence reported_;
  std::optional<What> last_;
};

}  // namespace muster::postgres::test
