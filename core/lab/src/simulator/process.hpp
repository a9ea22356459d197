#pragma once

#include "agenda.hpp"
#include "random.hpp"

#include <muster/lab/world.hpp>

#include <deque>
#include <memory>

namespace muster::lab::simulated {

/// The state that all processes of a world share.
struct Surroundings {
  explicit Surroundings(const WorldOptions& chosen) : options(chosen), random(chosen.seed) {}
  /// Adds a line to the journal.
  void write(journal::Line line) {
    if (options.watch) options.watch(line);
    if (options.keep_lines) lines.push_back(std::move(line));
  }

  const WorldOptions& options;
  Agenda agenda;
  Random random;
  std::deque<journal::Line> lines;  ///< the journal
  std::uint64_t forged = 0;         ///< forged letters that have been sent
  std::uint64_t drained = 0;        ///< frames that were read early, because of a verdict
};

/// The process of one life of a node. Planned work runs while the process runs, waits while the
/// process is paused, and is dropped when the process is over.
class Process : public std::enable_shared_from_this<Process> {
 public:
  /// `rate`: the length of a millisecond of the process's clock, in microseconds.
  Process(Surroundings& shared, std::uint32_t rate) : world(shared), rate_(rate) {}

  [[nodiscard]] bool over() const { return over_; }
  [[nodiscard]] bool paused() const { return paused_; }
  [[nodiscard]] Duration now() const { return world.agenda.now(); }
  /// The simulated length of a duration that the process's clock measures.
  [[nodiscard]] Duration by_its_clock(Duration duration) const {
    return duration.count() < 0 ? duration : duration / 1000 * rate_;
  }

  /// The time on its clock.
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
  /// Notes that something outside of the process has slowed it down.
  void disturb() { ++disturbances_; }
  [[nodiscard]] std::uint64_t disturbances() const { return disturbances_; }

  /// Arrivals come before timers: a bound that has passed proves silence only when everything that
  /// arrived was read.
  void resume() {
    paused_ = false;
    run_all(arrivals_);
    run_all(waiting_);
  }

  /// Work for an arrival from outside.
  template <class F>
  void arrive(F&& work) {
    if (over_) return;
    if (paused_)
      arrivals_.emplace_back(std::forward<F>(work));
    else
      work();
  }
  /// Work that the process itself has waited for.
  template <class F>
  void run(F&& work) {
    if (over_) return;
    if (paused_)
      waiting_.emplace_back(std::forward<F>(work));
    else
      work();
  }
  /// Runs the work after a time by the process's clock.
  template <class F>
  void after(Duration delay, F work) {
    if (over_) return;
    world.agenda.after(by_its_clock(delay),
                       [weak = weak_from_this(), work = std::move(work)]() mutable {
                         if (const auto self = weak.lock()) self->run(std::move(work));
                       });
  }
  /// Runs the work at the present time, after the work that runs now.
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
