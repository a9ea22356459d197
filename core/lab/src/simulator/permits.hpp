#pragma once

#include "process.hpp"

#include <muster/host/hook_runner.hpp>
#include <muster/permits.hpp>
#include <muster/values/ensure.hpp>

#include <list>
#include <map>

namespace muster::lab::simulated {

/// The permits of one life. A permit may outlive the life.
class LifePermits {
 public:
  LifePermits(std::shared_ptr<Process> process, Duration longest_gap)
      : state_(std::make_shared<State>(std::move(process), longest_gap)), door_(state_) {}
  LifePermits(const LifePermits&) = delete;
  LifePermits& operator=(const LifePermits&) = delete;
  ~LifePermits() { close(); }

  [[nodiscard]] const Permits& door() const { return door_; }

  /// Permits of this group are given from now on. All permits of the previous group are back.
  void grant(GroupNumber group) {
    MUSTER_ENSURE(state_->out.empty());
    state_->group = group;
    ++state_->grants;
  }
  /// The number of the present grant; none if no permit is given.
  [[nodiscard]] std::optional<std::uint64_t> present_grant() const {
    return state_->group ? std::optional(state_->grants) : std::nullopt;
  }
  [[nodiscard]] bool may_work() const { return state_->may_work(); }
  /// The application's `start` has been called, so waiting requests get their permits now.
  void announce() {
    state_->announced = state_->group.has_value();
    state_->tell_waiting();
  }

  struct Revoked {
    GroupNumber group;
    std::optional<std::stop_source>
        stop;  ///< the source of a permit's stop token; none if no token was taken
  };
  /// No permit is valid from now on. `returned` is called once, when the last permit is back, which
  /// may be at once. Returns none, and never calls `returned`, if no permits were given.
  std::optional<Revoked> revoke(std::function<void()> returned) {
    const auto group = std::exchange(state_->group, std::nullopt);
    if (!group) return std::nullopt;
    state_->announced = false;
    state_->returned = std::move(returned);
    if (state_->out.empty()) state_->all_returned();
    return Revoked{*group, std::exchange(state_->stop, std::nullopt)};
  }

  [[nodiscard]] PermitsOut out() const {
    PermitsOut out;
    for (const Held& held : state_->out) ++out[held.name];
    return out;
  }

  /// The time at which the protocol's loop has stopped; none while it runs. No permit is valid
  /// after the longest gap (assumption 9).
  void stalled(std::optional<Duration> since) {
    state_->stalled = since;
    state_->tell_waiting();
  }

  /// The end of the node's right to work, by the node's clock. No permit is valid after this
  /// moment.
  void until(std::optional<Moment> right) { state_->right = right; }
  /// The life is over. Every waiting request is told that the life is over.
  void close() {
    state_->over = true;
    state_->tell_waiting();
  }

 private:
  struct State;
  struct Held final : Permit::Grant {
    Held(std::shared_ptr<State> owner, std::string_view called)
        : state(std::move(owner)), name(called) {}
    bool valid() const override { return state->may_work(); }
    std::stop_token stop_token() const override { return state->stop_token(); }
    void give_back() override { state->give_back(*this); }

    std::shared_ptr<State> state;
    std::string name;
  };
  struct State final : Permits::Host, std::enable_shared_from_this<State> {
    State(std::shared_ptr<Process> of, Duration gap) : process(std::move(of)), longest_gap(gap) {}

    std::optional<Permit> try_acquire(std::string_view name) override {
      if (!may_work()) return std::nullopt;
      return Permit(*group, out.emplace_back(shared_from_this(), name));
    }
    std::uint64_t when_given(std::function<void(bool)> told) override {
      waiting.emplace(++last_number, std::move(told));
      tell_waiting();
      return last_number;
    }
    void forget(std::uint64_t number) override { waiting.erase(number); }
    void post(std::function<void()> work) override {
      process->soon([work = std::move(work)] { work(); });
    }

    [[nodiscard]] bool may_work() const {
      return group && !over && !process->over() &&
             (!stalled || process->now_by_its_clock() - *stalled <= longest_gap) &&
             (!right || process->now_by_its_clock() < *right);
    }
    void give_back(const Held& held) {
      const auto kept = shared_from_this();
      out.remove_if([&](const Held& other) { return &other == &held; });
      if (out.empty() && !group) all_returned();
    }
    void all_returned() {
      if (const auto tell = std::exchange(returned, nullptr)) tell();
    }
    std::stop_token stop_token() {
      if (!group) {
        std::stop_source late;
        late.request_stop();
        return late.get_token();
      }
      if (!stop) stop.emplace();
      return stop->get_token();
    }
    void tell_waiting() {
      if (!over && !(announced && may_work())) return;
      for (const auto& [number, tell] : std::exchange(waiting, {})) tell(!over);
    }

    std::shared_ptr<Process> process;
    Duration longest_gap;
    std::optional<Duration> stalled;
    std::optional<Moment> right;
    std::optional<GroupNumber> group;  ///< none: no permit is given
    std::list<Held> out;               ///< permits that are not returned yet
    std::function<void()> returned;
    std::optional<std::stop_source> stop;
    std::map<std::uint64_t, std::function<void(bool)>> waiting;
    std::uint64_t last_number = 0;
    std::uint64_t grants = 0;  ///< the number of grants so far
    bool announced = false;
    bool over = false;
  };

  std::shared_ptr<State> state_;
  Permits door_;
};

}  // namespace muster::lab::simulated
