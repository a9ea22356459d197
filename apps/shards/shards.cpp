#include "apps/shards/shards.hpp"

#include "apps/shards/record.hpp"

#include <muster/values/json.hpp>

#include <boost/json/parse.hpp>

#include <poll.h>
#include <unistd.h>

namespace muster::apps {
namespace {

/// The application of one life. All functions run on the application's executor. Callbacks hold it
/// weakly, because it may be destroyed before they run.
class Worker : public std::enable_shared_from_this<Worker> {
 public:
  Worker(Services& services, const ShardsOptions& options)
      : services_(services),
        options_(options),
        period_(std::chrono::nanoseconds(std::chrono::seconds(1)) / options.records_per_second) {}

  void stop(Done<Report> done) {
    ++round_;
    tasks_.clear();
    stopping_ = std::make_shared<Done<Report>>(std::move(done));
    if (!scanned_) {
      scan_heads();
    } else if (!writing_) {
      report();
    }  // otherwise `durable` reports, so that the report has the last record
  }

  void start(const Assignment& assignment, Done<> done) {
    const auto definition = decode_definition(assignment.definition);
    if (!definition) return done.fail(definition.error().what);
    ++round_;
    tasks_.clear();
    turn_ = 0;
    for (ShardTask task : definition->tasks) {
      if (task.node != services_.self()) continue;
      // A group can start a node twice. The second start goes on after the records of the first.
      const auto head = held_.heads.find(task.shard);
      if (head != held_.heads.end()) task.next = std::max(task.next, head->second.sequence + 1);
      tasks_.push_back(task);
    }
    done();
    if (!tasks_.empty()) tick_later();
  }

 private:
  void scan_heads() {
    services_.scan(std::string(head_prefix), [weak = weak_from_this()](auto cells) {
      if (const auto self = weak.lock()) self->take_heads(cells);
    });
  }

  void take_heads(const std::vector<std::pair<std::string, Bytes>>& cells) {
    for (const auto& [key, value] : cells) {
      const auto shard = parse_head_key(key);
      boost::json::error_code error;
      const auto head = read_json<ShardHead>(boost::json::parse(value.data, error));
      if (!shard || error || !head) {
        return end_stop(
            [&](Done<Report>& done) { done.fail("the cell " + key + " is not of the shards"); });
      }
      held_.heads[*shard] = *head;
    }
    scanned_ = true;
    report();
  }

  void report() {
    end_stop([this](Done<Report>& done) {
      auto report = encode_report(held_);
      if (report) {
        done(std::move(*report));
      } else {
        done.fail(report.error().what);
      }
    });
  }

  template <class End>
  void end_stop(const End& end) {
    if (const auto done = std::exchange(stopping_, nullptr)) end(*done);
  }

  void tick_later() {
    services_.post_after(period_, [weak = weak_from_this(), round = round_] {
      const auto self = weak.lock();
      if (self && self->round_ == round) self->tick();
    });
  }

  /// Appends a record to the next shard, unless the previous record is not durable yet.
  void tick() {
    tick_later();
    if (writing_) return;
    auto permit = services_.permits().try_acquire("a record");
    if (!permit) return;
    ShardTask& task = tasks_[turn_++ % tasks_.size()];
    const Record record{task.shard, permit->group(), task.next++, services_.self()};
    const ShardHead head{record.group, record.sequence};
    CellBatch batch;
    batch.write(record_key(record), {});
    batch.write(head_key(record.shard), to_json(head));
    writing_ = true;
    const auto held = std::make_shared<Permit>(std::move(*permit));
    services_.write(std::move(batch), [weak = weak_from_this(), record, held] {
      if (const auto self = weak.lock()) self->durable(record, *held);
    });
  }

  void durable(const Record& record, const Permit& permit) {
    writing_ = false;
    held_.heads[record.shard] = {record.group, record.sequence};
    if (permit.valid()) acknowledge(record);
    if (stopping_ && scanned_) report();
  }

  void acknowledge(const Record& record) const {
    if (options_.acknowledge_to < 0) return;
    const std::string line = record_line(record);
    // The pipe has room for a whole line if it has room at all. The reader can hang, so this does
    // not wait.
    pollfd room{options_.acknowledge_to, POLLOUT, 0};
    if (::poll(&room, 1, 0) != 1 || room.revents != POLLOUT) return;
    // If the reader is gone or too slow, the record is durable but not acknowledged. The reader
    // sees that, because the line is missing from the pipe.
    [[maybe_unused]] const auto written =
        ::write(options_.acknowledge_to, line.data(), line.size());
  }

  Services& services_;
  ShardsOptions options_;
  Duration period_;
  ShardReport held_;
  bool scanned_ = false;
  bool writing_ = false;
  std::uint64_t round_ = 0;  ///< each start and stop raises it; ticks of older rounds do nothing
  std::vector<ShardTask> tasks_;
  std::size_t turn_ = 0;
  std::shared_ptr<Done<Report>> stopping_;
};

class Shards : public Application {
 public:
  Shards(Services& services, const ShardsOptions& options)
      : worker_(std::make_shared<Worker>(services, options)), shards_(options.shards) {}

  void stop(StopContext, Done<Report> done) override { worker_->stop(std::move(done)); }

  void reorganize(Reorganization reorganization, Done<Definition> done) override {
    std::map<NodeId, ShardReport> reports;
    for (const Member& member : reorganization.members) {
      auto report = decode_report(member.holdings.report);
      if (!report) {
        return done.fail("node " + std::to_string(member.node.value) + ": " + report.error().what);
      }
      reports.emplace(member.node, std::move(*report));
    }
    auto definition = encode_definition(deal_shards(reports, shards_));
    if (!definition) return done.fail(definition.error().what);
    done(std::move(*definition));
  }

  void start(Assignment assignment, Done<> done) override {
    worker_->start(assignment, std::move(done));
  }

 private:
  std::shared_ptr<Worker> worker_;
  std::uint32_t shards_;
};

}  // namespace

MakeApplication make_shards(const ShardsOptions& options) {
  return [options](Services& services) { return std::make_unique<Shards>(services, options); };
}

}  // namespace muster::apps
