#include "counting.hpp"

namespace muster::lab::simulated {

namespace {

constexpr const char* count_key = "count";

std::uint64_t number_in(const std::vector<std::pair<std::string, Bytes>>& cells) {
  return cells.empty() ? 0 : std::stoull(cells.front().second.data);
}

/// All functions run on the application's executor. Callbacks run only while the life lasts.
class Counting final : public Application {
 public:
  Counting(Services& services, Counted& counted, Duration period)
      : services_(services), counted_(counted), period_(period) {}

  void stop(StopContext, Done<Report> done) override {
    ++round_;
    const auto stopping = std::make_shared<Done<Report>>(std::move(done));
    // The scan ends after all writes that were requested before it, so no write ends after the
    // stop.
    services_.scan(count_key, [this, stopping](const auto& cells) {
      const std::uint64_t found = number_in(cells);
      if (!known_) counted_.found(services_.self(), found);
      known_ = true;
      number_ = found;
      (*stopping)({std::to_string(found)});
    });
  }

  void reorganize(Reorganization all, Done<Definition> done) override {
    std::string task = "group " + std::to_string(all.group.counter) + ":";
    for (const Member& member : all.members)
      task += ' ' + std::to_string(member.node.value) + '=' + member.holdings.report.data;
    done({task});
  }

  void start(Assignment, Done<> done) override {
    count_later(++round_);
    done();
  }

 private:
  void count_later(std::uint64_t round) {
    services_.post_after(period_, [this, round] {
      if (round != round_) return;
      count_later(round);
      auto permit = services_.permits().try_acquire();
      if (!permit || writing_) return;
      writing_ = true;
      const auto held = std::make_shared<Permit>(std::move(*permit));
      const std::uint64_t next = number_ + 1;
      services_.write({count_key, {std::to_string(next)}}, [this, next, held] {
        writing_ = false;
        number_ = next;
        counted_.acknowledge(services_.self(), next);
      });
    });
  }

  Services& services_;
  Counted& counted_;
  Duration period_;
  std::uint64_t number_ = 0;
  std::uint64_t round_ = 0;
  bool known_ = false;
  bool writing_ = false;
};

}  // namespace

void Counted::found(NodeId node, std::uint64_t number) {
  const std::uint64_t acknowledged = acknowledged_[node];
  if (number < acknowledged && !lost_)
    lost_ = "node " + std::to_string(node.value) + " counted to " + std::to_string(acknowledged) +
            " durably, and found " + std::to_string(number);
}

MakeApplication make_counting(Counted& counted, Duration period) {
  return [&counted, period](Services& services) {
    return std::make_unique<Counting>(services, counted, period);
  };
}

}  // namespace muster::lab::simulated
