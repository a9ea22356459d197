#pragma once

#include <muster/application.hpp>
#include <muster/storage/fenced_store.hpp>

namespace muster::examples {

/// Runs jobs at fixed intervals, each due time exactly once. The jobs are dealt to the members in
/// turn.
///
/// The effect of a run, and the note that the run was done, are one transaction of a fenced store.
/// The store refuses the writes of a group as soon as a newer group has used it. So if two nodes
/// believe that a job is theirs, only one of them runs it.
class Cron final : public Application {
 public:
  using Time = std::chrono::milliseconds;                              // since the epoch
  using Jobs = std::map<std::string, Time>;                            // intervals
  using Told = std::function<void(const std::string& job, Time due)>;  // called after a run
  Cron(Services& node, std::unique_ptr<storage::FencedStore> store, Jobs jobs,
       std::function<Time()> now, Told told)
      : node_(node), store_(std::move(store)), jobs_(std::move(jobs)), now_(now), told_(told) {}

  // No run is under way: `work` runs on the hooks' executor, so never at the same time as this.
  void stop(StopContext, Done<Report> done) override { done({}); }
  // Nothing to decide: each member finds its own jobs from the list of members.
  void reorganize(Reorganization, Done<Definition> done) override { done({"in turn"}); }
  void start(Assignment task, Done<> done) override {
    due_.clear();
    auto member = task.members.begin();
    for (const auto& [job, every] : jobs_) {
      if (*member == node_.self()) due_[job] = {};  // due at once: `run` reads the true time
      if (++member == task.members.end()) member = task.members.begin();
    }
    go_on(task.group);
    done();
  }

 private:
  // Waits until the next run is due, a second at most.
  void go_on(const GroupNumber& group) {
    Time wait(1000);
    for (const auto& [job, due] : due_) wait = std::min(wait, due - now_());
    node_.post_after(std::max(wait, Time(1)), [this, group] { work(group); });
  }

  void work(const GroupNumber& group) {
    const auto permit = node_.permits().try_acquire();
    if (!permit || permit->group() != group) return;  // stopped, or another group
    for (auto& [job, due] : due_)
      if (due <= now_() && !run(group, job, due)) return;  // a newer group has begun
    go_on(group);
  }

  // Runs the job if the store says that it is due, and stores when it is due next. Returns false if
  // a newer group has used the store, which means that this group is over.
  bool run(const GroupNumber& group, const std::string& job, Time& due) {
    const Time every = jobs_.at(job);
    bool ran = false;
    const auto done = store_->apply(group, [&](auto& cells) -> Expected<> {
      const auto next = cells.read("next/" + job);
      if (!next) return next.error();
      due = *next ? Time(std::stoll((*next)->data)) : (now_() / every + 1) * every;
      if (ran = due <= now_(); ran) {
        const std::string key = "ran/" + job + '/' + std::to_string(due.count());
        if (const auto did = cells.write(key, {"what the run does"}); !did) return did;
        due += every;
      }
      return cells.write("next/" + job, Bytes{std::to_string(due.count())});
    });
    if (!done && !storage::is_fenced_off(done.error())) done.value();  // throws
    if (done && ran) told_(job, due - every);
    return done.has_value();
  }

  Services& node_;
  std::unique_ptr<storage::FencedStore> store_;
  const Jobs jobs_;
  std::function<Time()> now_;
  Told told_;
  std::map<std::string, Time> due_;  // the due times of this member's jobs
};

}  // namespace muster::examples
