#pragma once

#include <muster/application.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace muster::test {

/// The number of entries that each node's ledger has acknowledged.
using Acknowledged = std::map<NodeId, std::uint64_t>;

/// An application that writes one entry in each `start` and acknowledges it when it is durable. A
/// hasty ledger acknowledges the entry as soon as it has asked for the write.
class Ledger final : public Application {
 public:
  Ledger(Services& services, Acknowledged& acknowledged, bool hasty)
      : services_(services), acknowledged_(acknowledged), hasty_(hasty) {}

  void stop(StopContext, Done<Report> done) override {
    const auto stopping = std::make_shared<Done<Report>>(std::move(done));
    services_.scan("entry", [this, stopping](const auto& cells) {
      entries_ = cells.empty() ? 0 : std::stoull(cells.front().second.data);
      (*stopping)({std::to_string(entries_)});
    });
  }

  void reorganize(Reorganization all, Done<Definition> done) override {
    done({"task of group " + std::to_string(all.group.counter)});
  }

  void start(Assignment, Done<> done) override {
    permit_seen = services_.permits().try_acquire().has_value();
    const std::uint64_t entry = entries_ + 1;
    const auto acknowledge = [this] { ++acknowledged_[services_.self()]; };
    const auto started = std::make_shared<Done<>>(std::move(done));
    services_.write({"entry", {std::to_string(entry)}}, [acknowledge, started, hasty = hasty_] {
      if (!hasty) acknowledge();
      (*started)();
    });
    if (hasty_) acknowledge();
  }

  bool permit_seen = false;

 private:
  Services& services_;
  Acknowledged& acknowledged_;
  bool hasty_;
  std::uint64_t entries_ = 0;
};

inline MakeApplication make_ledger(Acknowledged& acknowledged, bool hasty = false) {
  return [&acknowledged, hasty](Services& services) {
    return std::make_unique<Ledger>(services, acknowledged, hasty);
  };
}

}  // namespace muster::test
