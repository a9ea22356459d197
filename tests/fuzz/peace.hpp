#pragma once

#include "fuzz/types.hpp"

#include <muster/host/sessions.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>

/// The time after the lies: all lives reach each other, by connections that lose nothing and take
/// no time.

namespace muster::fuzz {

/// The acts of a life on the network: it dials, writes frames and closes connections.
struct Network {
  virtual ~Network() = default;
  virtual void dials(NodeId from, NodeId to) = 0;
  virtual void writes(NodeId from, host::ConnectionId on, const host::Frame& frame) = 0;
  virtual void closes(NodeId from, host::ConnectionId connection) = 0;
};

template <class FuzzedLife>
class Peace final : public Network {
 public:
  /// Adds a life. The life first loses all its earlier connections.
  void joins(FuzzedLife& life) {
    lives_.emplace(life.id(), &life);
    life.reaches_others(*this);
  }

  /// True when all lives are Normal in one group, and false if they never are. It also returns true
  /// if a life has ended, because other code checks whether a life may end.
  bool becomes_whole() {
    constexpr int most_steps = 200'000;
    for (int step = 0; step < most_steps; ++step) {
      if (any([](const FuzzedLife& life) { return life.is_over(); })) return true;
      if (!happens()) {
        if (is_whole()) return true;
        time_passes();
      }
      for (const auto& [node, life] : lives_) life->turns();
    }
    return false;
  }

  void dials(NodeId from, NodeId to) override {
    come_.emplace_back([this, from, to] {
      FuzzedLife& dialler = *lives_.at(from);
      if (!dialler.is_dialling(to)) return;
      FuzzedLife& other = *lives_.at(to);
      const host::ConnectionId here = dialler.opens(), there = other.opens();
      others_.emplace(End{from, here}, End{to, there});
      others_.emplace(End{to, there}, End{from, here});
      other.take(host::Accepted{there, {}});
      dialler.reached(to, here);
    });
  }
  void writes(NodeId from, host::ConnectionId on, const host::Frame& frame) override {
    to_the_other(from, on, [frame](FuzzedLife& life, host::ConnectionId connection) {
      life.take(host::Came{connection, frame, 100});
    });
  }
  void closes(NodeId from, host::ConnectionId connection) override {
    to_the_other(from, connection,
                 [](FuzzedLife& life, host::ConnectionId its) { life.closes(its); });
  }

 private:
  using End = std::pair<NodeId, host::ConnectionId>;

  template <class Deed>
  void to_the_other(NodeId from, host::ConnectionId on, Deed deed) {
    const auto end = others_.find({from, on});
    if (end == others_.end()) return;
    come_.emplace_back([life = lives_.at(end->second.first), to = end->second.second, deed] {
      if (life->has_open(to)) deed(*life, to);
    });
  }

  template <class Predicate>
  bool any(const Predicate& so) const {
    return std::any_of(lives_.begin(), lives_.end(),
                       [&](const auto& of) { return so(*of.second); });
  }

  // Delivers one item of the network, or lets one life do its own work.
  bool happens() {
    if (come_.empty()) {
      return any([](FuzzedLife& life) { return life.goes_on_by_itself(); });
    }
    const auto next = std::move(come_.front());
    come_.pop_front();
    next();
    return true;
  }

  void time_passes() {
    std::optional<Duration> soonest;
    for (const auto& [node, life] : lives_)
      if (const auto next = life->waits_for()) soonest = std::min(soonest.value_or(*next), *next);
    require(soonest.has_value());
    for (const auto& [node, life] : lives_) life->waits(*soonest);
  }

  [[nodiscard]] bool is_whole() const {
    const auto group = lives_.begin()->second->group();
    return group && !any([&](const FuzzedLife& life) { return life.group() != group; });
  }

  std::map<NodeId, FuzzedLife*> lives_;
  std::map<End, End> others_;  ///< maps each end of a connection to the other end
  std::deque<std::function<void()>> come_;
};

}  // namespace muster::fuzz
