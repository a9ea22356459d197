#pragma once

#include "agenda.hpp"
#include "random.hpp"

#include <muster/lab/world.hpp>

#include <deque>
#include <memory>

namespace muster::lab::simulated {

/// What all processes of a world share.
struct Surroundings {
  explicit Surroundings(const WorldOptions& chosen) : options(chosen), random(chosen.seed) {}
  /// One more line of the journal.
  void write(journal::Line line) {
    if (options.watch) options.watch(line);
    if (options.keep_lines) lines.push_back(std::move(line));
  }

  const WorldOptions& options;
  Agenda agenda;
  Random random;
  std::deque<journal::Line> lines;  ///< the journal
  std::uint64_t forged = 0;         ///< letters that nobody has written, so far
  std::uint64_t drained = 0;        ///< frames that were read before a verdict, and not before
};

/// The process of one life of a node: what it does, it does while it runs. Where it is paused that
/// waits; where it is over that never happens.
class Process : public std::enable_shared_from_this<Process> {
 public:
  /// `rate`: how long a thousandth of its second takes, in millionths of a second.
  Process(Surroundings& shared, std::uint32_t rate) : world(shared), rate_(rate) {}

  [[nodiscard]] bool over() const { return over_; }
  [[nodiscard]] bool paused() const { return paused_; }
  [[nodiscard]] Duration now() const { return world.agenda.now(); }
  /// How long its clock takes for that.
  [[nodiscard]] Duration by_its_clock(Duration duration) const {
    return duration.count() < 0 ? duration : duration / 1000 * rate_;
  }

  /// The time by its clock.
  [[nodiscard]] Duration now_by_its_clock() const {
    return Duration(now().count() / rate_ * 1000 + now().count() % rate_ * 1000 / rate_);
  }

  void end() {
    over_ = true;
    arrivals_.clear();
    waiting_.clear();
  }

  void pause() {
    paused_ = true;
    disturb();
  }
  /// It was slowed down, by nothing of its own.
  void disturb() { ++disturbances_; }
  [[nodiscard]] std::uint64_t disturbances() const { return disturbances_; }

  /// What has arrived comes first: a bound that has passed is no silence before all was read.
  void resume() {
    paused_ = false;
    run_all(arrivals_);
    run_all(waiting_);
  }

  /// Something arrives from outside.
  template <class F>
  void arrive(F&& work) {
    if (over_) return;
    if (paused_)
      arrivals_.emplace_back(std::forward<F>(work));
    else
      work();
  }
  /// Something that was waited for.
  template <class F>
  void run(F&& work) {
    if (over_) return;
    if (paused_)
      waiting_.emplace_back(std::forward<F>(work));
    else
      work();
  }
  /// After so long by its clock.
  template <class F>
  void after(Duration delay, F work) {
    if (over_) return;
    world.agenda.after(by_its_clock(delay),
                       [weak = weak_from_this(), work = std::move(work)]() mutable {
                         if (const auto self = weak.lock()) self->run(std::move(work));
                       });
  }
  /// Now, but not within what is going on.
  template <class F>
  void soon(F work) {
    after(Duration{}, std::move(work));
  }

  Surroundings& world;

 private:
  void run_all(std::deque<Work>& works) {
    while (!works.empty() && !paused_) {
      const Work work = std::move(works.front());
      works.pop_front();
      work();
    }
  }
  std::uint32_t rate_;
  bool over_ = false;
  bool paused_ = false;
  std::uint64_t disturbances_ = 0;
  std::deque<Work> arrivals_;
  std::deque<Work> waiting_;
};

}  // namespace muster::lab::simulated
