#pragma once

#include <muster/application.hpp>
#include <muster/storage/fenced_store.hpp>

namespace muster::examples {

/// Jobs, dealt to the members in turn: each due time of each is run exactly once. What a run does
/// and the note that it was done are one transaction of a store that refuses the past.
class Cron final : public Application {
 public:
  using Time = std::chrono::milliseconds;                              // since the epoch
  using Jobs = std::map<std::string, Time>;                            // how often
  using Told = std::function<void(const std::string& job, Time due)>;  // of a run, done for good
  Cron(Services& node, std::unique_ptr<storage::FencedStore> store, Jobs jobs,
       std::function<Time()> now, Told told)
      : node_(node), store_(std::move(store)), jobs_(std::move(jobs)), now_(now), told_(told) {}

  // Nothing is under way: work runs one at a time with the hooks.
  void stop(StopContext, Done<Report> done) override { done({}); }
  void reorganize(Reorganization, Done<Definition> done) override { done({"in turn"}); }
  void start(Assignment task, Done<> done) override {
    due_.clear();
    auto member = task.members.begin();
    for (const auto& [job, every] : jobs_) {
      if (*member == node_.self()) due_[job] = {};  // the store knows better
      if (++member == task.members.end()) member = task.members.begin();
    }
    go_on(task.group);
    done();
  }

 private:
  void go_on(const GroupNumber& group) {
    Time wait(1000);
    for (const auto& [job, due] : due_) wait = std::min(wait, due - now_());
    node_.post_after(std::max(wait, Time(1)), [this, group] { work(group); });
  }

  void work(const GroupNumber& group) {
    const auto permit = node_.permits().try_acquire();
    if (!permit || permit->group() != group) return;  // halted meanwhile
    for (auto& [job, due] : due_)
      if (due <= now_() && !run(group, job, due)) return;  // it is of the past
    go_on(group);
  }

  // Runs the job if the store has it due, and notes when it is due next; false if it refuses.
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
  std::map<std::string, Time> due_;  // of this member's jobs
};

}  // namespace muster::examples
