#pragma once

#include <muster/application.hpp>
#include <muster/values/archive.hpp>

namespace muster::examples {

/// Keys and their values. `group` and `write` are the version of the whole map: the group of its
/// newest write, and the number of that write within the group.
struct Values {
  GroupNumber group;
  std::uint64_t write{};
  std::map<std::string, std::string> values;
};
MUSTER_DESCRIBE(Values, group, write, values);

/// A replicated map of keys to values that loses no acknowledged write.
///
/// The primary is the coordinator of a group of more than half of the nodes. A write goes to the
/// primary, and is acknowledged once every member has it in safe storage.
///
/// Two majorities share a node. So a later majority knows every write that an earlier one
/// acknowledged, and its own writes have a higher group number: the newest version wins. A smaller
/// group can have missed writes, so it neither writes nor reads.
class KeyValue final : public Application {
 public:
  using Tell = std::function<void(const std::string& line)>;
  /// `here` points to this object as long as it exists. Use `here` on the hooks' executor only.
  KeyValue(Services& node, Tell tell, KeyValue*& here)
      : node_(node), tell_(std::move(tell)), here_(here = this) {}
  ~KeyValue() override { here_ = here_ == this ? nullptr : here_; }

  /// Writes a key, and reports when all members have it. If the group ends before that report, the
  /// write may be lost: write it again.
  void write(const std::string& key, const std::string& value) {
    if (!leads_) return;
    const Values one{leads_->group, ++writes_, {{key, value}}};
    const std::size_t all = leads_->members.size();
    const auto left = std::make_shared<std::size_t>(all);
    for (NodeId member : leads_->members)
      leads_->ask(member, {encode(one)}, [=, this](const auto& taken) {
        if (taken && --*left == 0) tell_(key + " = " + value + " at " + std::to_string(all));
      });
  }
  /// Reads a key, if this node is the primary and gets a permit. A halted node gets none.
  void read(const std::string& key) {
    if (leads_ && node_.permits().try_acquire()) tell_(key + ": " + all_.values[key]);
  }

  // Reports the version of this node's values, not the values themselves, which can be too big for
  // a report.
  void stop(StopContext, Done<Report> done) override {
    leads_.reset();
    const auto kept = std::make_shared<Done<Report>>(std::move(done));
    node_.scan("values", [this, kept](const auto& cells) {
      all_ = cells.empty() ? Values{} : decode<Values>(cells.front().second.data).value();
      (*kept)({encode(Values{all_.group, all_.write, {}})});
    });
  }

  // Copies the values of the member that has the newest write to all members: asks that member for
  // its values, and then sends them to each member. `last_assigned` would be a wrong choice: it is
  // the member with the highest group, and this member can have been alone and have missed a write.
  void reorganize(Reorganization all, Done<Definition> done) override {
    const auto newest = std::ranges::max_element(all.members, {}, [](const Member& member) {
      const auto report = decode<Values>(member.holdings.report.data).value();
      return std::pair(report.group, report.write);
    });
    const auto kept = std::make_shared<Done<Definition>>(std::move(done));
    const auto left = std::make_shared<std::size_t>(all.members.size());
    all.ask(newest->node, {}, [=](const auto& values) {
      if (!values) return kept->fail(values.error());
      for (const Member& member : all.members)
        all.ask(member.node, *values, [=](const auto& taken) {
          if (!taken) return kept->fail(taken.error());
          if (--*left == 0) (*kept)();
        });
    });
  }

  void start(Assignment task, Done<> done) override {
    const bool is_majority = 2 * task.members.size() > node_.nodes().size();
    if (is_majority && task.group.coordinator == node_.self()) leads_ = std::move(task);
    done();
  }

  // Runs on a member. An empty question asks for the member's values; any other question brings
  // values to store.
  void answer(Question question, Done<Bytes> done) override {
    if (question.bytes.data.empty()) return done({encode(all_)});
    auto told = decode<Values>(question.bytes.data).value();
    if (question.working) told.values.merge(all_.values);  // a write: keep all other keys
    all_ = std::move(told);
    const auto kept = std::make_shared<Done<Bytes>>(std::move(done));
    node_.write({"values", {encode(all_)}}, [kept] { (*kept)(); });
  }

 private:
  Services& node_;
  Tell tell_;
  KeyValue*& here_;
  Values all_;
  std::optional<Assignment> leads_;  ///< set while this node is the primary
  std::uint64_t writes_ = 0;
};

}  // namespace muster::examples
