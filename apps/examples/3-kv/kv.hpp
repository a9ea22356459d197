#pragma once

#include <muster/application.hpp>
#include <muster/values/archive.hpp>

namespace muster::examples {

/// Keys with their values, and the newest write among them. Its group and its number in that group
/// are the version of the whole.
struct Values {
  GroupNumber group;
  std::uint64_t write{};
  std::map<std::string, std::string> values;
};
MUSTER_DESCRIBE(Values, group, write, values);

/// Written at the primary, which is the coordinator of more than half of the nodes, and
/// acknowledged when every member has it in safe storage. Two such groups share a node, so the
/// later one has what the earlier one acknowledged, and writes with a higher group number: nothing
/// acknowledged is lost. A group of fewer nodes may have missed a write, so it takes none and
/// answers no read.
class KeyValue final : public Application {
 public:
  using Tell = std::function<void(const std::string& line)>;
  /// `here` is this one while it is there, on its executor.
  KeyValue(Services& node, Tell tell, KeyValue*& here)
      : node_(node), tell_(std::move(tell)), here_(here = this) {}
  ~KeyValue() override { here_ = here_ == this ? nullptr : here_; }

  /// What is not told of may be lost with the group: write it again then.
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
  void read(const std::string& key) {
    if (leads_ && node_.permits().try_acquire()) tell_(key + ": " + all_.values[key]);
  }

  void stop(StopContext, Done<Report> done) override {
    leads_.reset();
    const auto kept = std::make_shared<Done<Report>>(std::move(done));
    node_.scan("values", [this, kept](const auto& cells) {
      all_ = cells.empty() ? Values{} : decode<Values>(cells.front().second.data).value();
      (*kept)({encode(Values{all_.group, all_.write, {}})});
    });
  }

  // All get the values of the member with the newest write. That is not the member with the highest
  // group, `last_assigned`: it may have been alone, and have missed a write.
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

  void answer(Question question, Done<Bytes> done) override {
    if (question.bytes.data.empty()) return done({encode(all_)});
    auto told = decode<Values>(question.bytes.data).value();
    if (question.working) told.values.merge(all_.values);  // a write leaves all other keys
    all_ = std::move(told);
    const auto kept = std::make_shared<Done<Bytes>>(std::move(done));
    node_.write({"values", {encode(all_)}}, [kept] { (*kept)(); });
  }

 private:
  Services& node_;
  Tell tell_;
  KeyValue*& here_;
  Values all_;
  std::optional<Assignment> leads_;  ///< where this node is the primary
  std::uint64_t writes_ = 0;
};

}  // namespace muster::examples
