#pragma once

#include <muster/application.hpp>
#include <muster/storage/fenced_store.hpp>

namespace muster::examples {

/// Does the jobs of a queue in their order, each exactly once.
///
/// The coordinator does them. If the network is cut, there can be two coordinators at the same
/// time. So the queue is a fenced store: it refuses the writes of a group once a newer group has
/// used it. Each job and the note that it was done are one transaction.
///
/// `stop` reports nothing and `reorganize` decides nothing, because the queue holds all state.
class Jobs final : public Application {
 public:
  /// Called when a job is done for good.
  using Told = std::function<void(NodeId, const GroupNumber&, std::uint64_t job)>;
  Jobs(Services& node, std::unique_ptr<storage::FencedStore> queue, Told told)
      : node_(node), queue_(std::move(queue)), told_(std::move(told)) {}

  void stop(StopContext, Done<Report> done) override {
    // No job is under way: `work` runs on the hooks' executor, so never at the same time as this.
    works_for_.reset();
    done({});
  }
  void reorganize(Reorganization, Done<Definition> done) override { done({}); }
  void start(Assignment task, Done<> done) override {
    if (task.group.coordinator == node_.self() && may_go_on(begin(task.group))) go_on(task.group);
    done();
  }

  /// Puts jobs 1 to `jobs` into a new queue.
  static Expected<> fill(storage::FencedStore& queue, std::uint64_t jobs) {
    return queue.apply(GroupNumber{}, [&](auto& cells) -> Expected<> {
      Expected<> put;
      for (std::uint64_t job = 1; put && job <= jobs; ++job)
        put = cells.write("job/" + std::to_string(job), Bytes{"to be done"});
      return put;
    });
  }

 private:
  // Reads which job was done last. This is a transaction of the new group, so from here on the
  // queue refuses all older groups. Until a newer group comes, only this node changes `last`.
  Expected<> begin(const GroupNumber& group) {
    return queue_->apply(group, [&](auto& cells) -> Expected<> {
      const auto last = cells.read("last");
      if (!last) return last.error();
      last_ = *last ? std::stoull((*last)->data) : 0;
      return {};
    });
  }

  void go_on(const GroupNumber& group) {
    works_for_ = group;
    node_.post_after(std::chrono::milliseconds(5), [this, group] {
      if (works_for_ == group) work();
    });
  }

  void work() {
    const auto permit = node_.permits().try_acquire("a job");
    if (!permit) return;  // a stop is coming
    const std::string number = std::to_string(last_ + 1);
    if (!queue_->read("job/" + number).value()) return;  // all jobs are done
    const auto done = queue_->apply(permit->group(), [&](auto& cells) {
      const Bytes by{"done by node " + std::to_string(node_.self().value)};
      const Expected<> put = cells.write("job/" + number, by);
      return put ? cells.write("last", Bytes{number}) : put;
    });
    if (!may_go_on(done)) return;
    told_(node_.self(), permit->group(), ++last_);
    go_on(permit->group());
  }

  // Whether this node's group is still the newest. If not, the node does nothing more. Any other
  // failure of the store, such as a broken disk, ends the process.
  static bool may_go_on(const Expected<>& done) {
    if (!done && !storage::is_fenced_off(done.error())) done.value();  // throws
    return done.has_value();
  }

  Services& node_;
  std::unique_ptr<storage::FencedStore> queue_;
  Told told_;
  std::optional<GroupNumber> works_for_;
  std::uint64_t last_ = 0;
};

}  // namespace muster::examples
