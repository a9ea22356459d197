#include "apps/shards/shards.hpp"
#include "apps/shards/deal.hpp"
#include "apps/shards/record.hpp"

#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <array>
#include <deque>
#include <random>

namespace muster::apps {
namespace {

using Reports = std::map<NodeId, ShardReport>;

Reports random_reports(std::mt19937& random) {
  std::uniform_int_distribution<std::uint32_t> one_to_seven(1, 7);
  std::uniform_int_distribution<std::uint64_t> number(1, 9);
  Reports reports;
  const auto members = one_to_seven(random);
  for (std::uint32_t node = 1; node <= members; ++node) {
    ShardReport& report = reports[NodeId{node * 3}];
    for (std::uint32_t shard = 0; shard < shard_count; ++shard) {
      if (one_to_seven(random) > 3) continue;
      report.heads[shard] = {{number(random), NodeId{one_to_seven(random)}}, number(random)};
    }
  }
  return reports;
}

std::map<NodeId, std::uint32_t> loads(const ShardDefinition& definition, const Reports& reports) {
  std::map<NodeId, std::uint32_t> loads;
  for (const auto& [node, report] : reports) loads[node] = 0;
  for (const ShardTask& task : definition.tasks) ++loads.at(task.node);
  return loads;
}

/// The node that has the shard's last record, with the sequence number of that record.
std::optional<std::pair<ShardHead, NodeId>> last_record(const Reports& reports,
                                                        std::uint32_t shard) {
  std::optional<std::pair<ShardHead, NodeId>> last;
  for (const auto& [node, report] : reports) {
    const auto head = report.heads.find(shard);
    if (head == report.heads.end()) continue;
    if (!last || last->first < head->second) last.emplace(head->second, node);
  }
  return last;
}

/// The highest number of shards that can stay with the node of their last record. Each member can
/// keep as many of its shards as its share is. If the shards cannot be divided equally, some shares
/// are larger by one, and as many members can keep one more shard.
std::uint32_t most_that_can_stay(const Reports& reports) {
  std::map<NodeId, std::uint32_t> owned;
  for (std::uint32_t shard = 0; shard < shard_count; ++shard) {
    if (const auto last = last_record(reports, shard)) ++owned[last->second];
  }
  const auto share = shard_count / static_cast<std::uint32_t>(reports.size());
  std::uint32_t larger = shard_count % static_cast<std::uint32_t>(reports.size());
  std::uint32_t stay = 0;
  for (const auto& [node, count] : owned) {
    stay += std::min(count, share);
    if (count > share && larger > 0) {
      ++stay;
      --larger;
    }
  }
  return stay;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dealing)

BOOST_AUTO_TEST_CASE(every_shard_once_balanced_and_where_its_records_are) {
  std::mt19937 random(20);
  for (int round = 0; round < 500; ++round) {
    const Reports reports = random_reports(random);
    const ShardDefinition definition = deal_shards(reports);
    BOOST_REQUIRE_EQUAL(definition.tasks.size(), shard_count);
    std::uint32_t stayed = 0;
    for (std::uint32_t shard = 0; shard < shard_count; ++shard) {
      const ShardTask& task = definition.tasks[shard];
      BOOST_REQUIRE_EQUAL(task.shard, shard);
      const auto last = last_record(reports, shard);
      BOOST_REQUIRE_EQUAL(task.next, last ? last->first.sequence + 1 : 1);
      if (last && last->second == task.node) ++stayed;
    }
    const auto shares = loads(definition, reports);
    const auto [least, most] = std::minmax_element(
        shares.begin(), shares.end(), [](auto& a, auto& b) { return a.second < b.second; });
    BOOST_REQUIRE_LE(most->second - least->second, 1u);
    BOOST_REQUIRE_EQUAL(stayed, most_that_can_stay(reports));
  }
}

BOOST_AUTO_TEST_CASE(equal_reports_make_equal_deals) {
  std::mt19937 random(7);
  const Reports reports = random_reports(random);
  BOOST_TEST(deal_shards(reports) == deal_shards(Reports(reports)));
}

BOOST_AUTO_TEST_CASE(nothing_moves_when_nothing_changed) {
  Reports reports;
  for (std::uint32_t node = 1; node <= 5; ++node) reports[NodeId{node}];
  const ShardDefinition before = deal_shards(reports);
  for (const ShardTask& task : before.tasks)
    reports[task.node].heads[task.shard] = {{1, NodeId{5}}, 10};
  const ShardDefinition after = deal_shards(reports);
  for (std::uint32_t shard = 0; shard < shard_count; ++shard) {
    BOOST_TEST(after.tasks[shard].node == before.tasks[shard].node);
    BOOST_TEST(after.tasks[shard].next == 11u);
  }
}

BOOST_AUTO_TEST_CASE(texts_are_read_back) {
  ShardReport report;
  report.heads[7] = {{12, NodeId{5}}, 118};
  BOOST_TEST(decode_report(encode_report(report).value()).value() == report);
  BOOST_TEST(decode_report(Report{}).value() == ShardReport{});
  const ShardDefinition definition = deal_shards({{NodeId{1}, report}});
  BOOST_TEST(decode_definition(encode_definition(definition).value()).value() == definition);
}

BOOST_AUTO_TEST_CASE(texts_of_everybody_fit_and_larger_ones_are_refused_not_cut) {
  Reports reports;
  ShardReport full;
  for (std::uint32_t shard = 0; shard < shard_count; ++shard) {
    full.heads[shard] = {{~std::uint64_t{0}, NodeId{~std::uint32_t{0}}}, ~std::uint64_t{0} - 1};
  }
  for (std::uint32_t node = 1; node <= 64; ++node) reports[NodeId{node}] = full;
  BOOST_TEST(encode_report(full).has_value());
  BOOST_TEST(encode_definition(deal_shards(reports)).has_value());

  const auto refused = encode_definition(deal_shards(reports, 4096));
  BOOST_REQUIRE(refused.has_error());
  BOOST_TEST(refused.error().what.find("at most 32768") != std::string::npos, refused.error().what);
  const Definition larger{std::string(shards_text_limit + 1, ' ')};
  BOOST_TEST(decode_definition(larger).has_error());
  BOOST_TEST(decode_report(larger).has_error());
}

BOOST_AUTO_TEST_CASE(other_texts_are_refused) {
  for (const char* text :
       {"{", "[]", "{\"heads\":7}", "{\"heads\":[],\"more\":1}", "[[[[[[[[[[]]]]]]]]]]"}) {
    BOOST_TEST(decode_report(Report{text}).has_error(), text);
  }
  BOOST_TEST(
      decode_definition(
          Definition{R"({"tasks":[{"shard":1,"node":1,"next":1},{"shard":1,"node":2,"next":1}]})"})
          .has_error());
}

BOOST_AUTO_TEST_CASE(records_are_read_back_from_keys_and_lines) {
  const Record record{7, {12, NodeId{5}}, 118, NodeId{3}};
  BOOST_TEST(record_line(record) ==
             "{\"record\":{\"shard\":7,\"group\":[12,5],\"sequence\":118,\"node\":3}}\n");
  BOOST_TEST(parse_record_line(record_line(record)) == record);
  BOOST_TEST(parse_record_key(record_key(record), NodeId{3}) == record);
  Record later = record;
  later.group = {110, NodeId{1}};
  BOOST_TEST(record_key(record) < record_key(later));
  BOOST_TEST(!parse_record_key("record/7", NodeId{3}).has_value());
  BOOST_TEST(!parse_record_key(record_key(record) + "/1", NodeId{3}).has_value());
  BOOST_TEST(!parse_record_line("{\"record\":{}}").has_value());
  BOOST_TEST(!parse_record_line("{\"rec").has_value());
  BOOST_TEST(parse_head_key(head_key(23)) == std::optional<std::uint32_t>(23));
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

/// A host that runs one application on the test's thread. The application's requests wait in queues
/// until the test handles them.
class Host : public Services {
 public:
  NodeId self() const override { return NodeId{3}; }
  const NodeSet& nodes() const override { return nodes_; }
  const Permits& permits() const override { return door_; }
  void write(CellBatch batch, std::function<void()> durable) override {
    writes.emplace_back(std::move(batch), std::move(durable));
  }
  void scan(std::string prefix,
            std::function<void(std::vector<std::pair<std::string, Bytes>>)> done) override {
    std::vector<std::pair<std::string, Bytes>> found;
    for (const auto& cell : cells) {
      if (cell.first.starts_with(prefix)) found.push_back(cell);
    }
    done(std::move(found));
  }
  void post(std::function<void()> work) override { later.push_back(std::move(work)); }
  void post_after(Duration, std::function<void()> work) override {
    later.push_back(std::move(work));
  }

  void elect(std::string) override {}
  void step_down(Duration) override {}
  void show(Shown) override {}
  void broken(std::string) override {}
  void note(std::string) override {}

  void grant(GroupNumber group) { gate_->group = group; }
  void revoke() { gate_->group.reset(); }
  void run_timer() {
    auto work = std::move(later.front());
    later.pop_front();
    work();
  }
  void make_durable() {
    auto [batch, durable] = std::move(writes.front());
    writes.pop_front();
    for (auto& write : batch.writes) cells[write.key] = *write.value;
    durable();
  }

  std::map<std::string, Bytes> cells;
  std::deque<std::pair<CellBatch, std::function<void()>>> writes;
  std::deque<std::function<void()>> later;
  [[nodiscard]] int permits_out() const { return gate_->out; }

 private:
  struct Gate final : Permits::Host, Permit::Grant {
    std::optional<Permit> try_acquire(std::string_view) override {
      if (!group) return std::nullopt;
      ++out;
      return Permit(*group, *this);
    }
    std::uint64_t when_given(std::function<void(bool)>) override { return 0; }
    void forget(std::uint64_t) override {}
    void post(std::function<void()>) override {}
    bool valid() const override { return group.has_value(); }
    std::stop_token stop_token() const override { return {}; }
    void give_back() override { --out; }

    std::optional<GroupNumber> group;
    int out = 0;
  };
  NodeSet nodes_{NodeId{3}, NodeId{4}};
  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  Permits door_{gate_};
};

struct Pipe {
  Pipe() { BOOST_REQUIRE(::pipe(ends.data()) == 0); }
  ~Pipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  std::string read() const {
    std::array<char, 4096> buffer{};
    const auto size = ::read(ends[0], buffer.data(), buffer.size());
    return {buffer.data(), static_cast<std::size_t>(size)};
  }
  std::array<int, 2> ends{};
};

struct Ended {
  std::optional<Report> report;
  std::string why;
  Done<Report> done() {
    return Done<Report>([this](Done<Report>::Outcome outcome) {
      if (outcome) {
        report = *outcome;
      } else {
        why = outcome.error();
      }
    });
  }
};

Done<> started(bool& well) {
  return Done<>([&well](Done<>::Outcome outcome) { well = outcome.has_value(); });
}

Assignment alone(GroupNumber group, const ShardReport& held = {}) {
  Assignment assignment;
  assignment.group = group;
  assignment.definition = encode_definition(deal_shards({{NodeId{3}, held}})).value();
  return assignment;
}

/// An application that has done its first `stop` and was then started in a group that contains only
/// its node.
struct Working {
  Working() {
    application->stop({}, first.done());
    host.grant({4, NodeId{3}});
    application->start(alone({4, NodeId{3}}), started(well));
    host.run_timer();
  }
  Host host;
  Pipe pipe;
  std::unique_ptr<Application> application = make_shards({20, pipe.ends[1]})(host);
  Ended first;
  bool well = false;
};

/// The result of the first `stop` of a life if the store contains `head`.
Ended stopped_with(const std::string& head) {
  Host host;
  host.cells[head_key(9)] = Bytes{head};
  Ended ended;
  make_shards({})(host)->stop({}, ended.done());
  return ended;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shards)

BOOST_FIXTURE_TEST_CASE(works_acknowledges_and_reports, Working) {
  BOOST_REQUIRE(first.report.has_value());
  BOOST_TEST(decode_report(*first.report).value() == ShardReport{});
  BOOST_REQUIRE(well);
  BOOST_TEST(host.permits_out() == 1);
  host.make_durable();
  BOOST_TEST(host.permits_out() == 0);
  BOOST_TEST(pipe.read() ==
             "{\"record\":{\"shard\":0,\"group\":[4,3],\"sequence\":1,\"node\":3}}\n");

  Ended second;
  application->stop({}, second.done());
  BOOST_REQUIRE(second.report.has_value());
  BOOST_TEST(decode_report(*second.report).value().heads.at(0) == (ShardHead{{4, NodeId{3}}, 1}));
  host.run_timer();  // the work that was posted before the `stop` has run
  BOOST_TEST(host.writes.empty());
}

BOOST_FIXTURE_TEST_CASE(a_record_durable_after_the_halt_is_reported_and_not_acknowledged, Working) {
  host.revoke();
  Ended second;
  application->stop({}, second.done());
  BOOST_TEST(!second.report.has_value());  // the application has not ceased yet
  host.make_durable();
  BOOST_REQUIRE(second.report.has_value());
  BOOST_TEST(decode_report(*second.report).value().heads.size() == 1u);
  host.grant({5, NodeId{3}});
  application->start(alone({5, NodeId{3}}, decode_report(*second.report).value()), started(well));
  host.run_timer();  // the timer of the group before
  host.run_timer();
  host.make_durable();
  BOOST_TEST(pipe.read() ==
             "{\"record\":{\"shard\":0,\"group\":[5,3],\"sequence\":2,\"node\":3}}\n");
}

BOOST_AUTO_TEST_CASE(a_new_life_reports_what_the_store_holds) {
  const Ended ended = stopped_with(R"({"group":[2,4],"sequence":33})");
  BOOST_REQUIRE(ended.report.has_value());
  BOOST_TEST(decode_report(*ended.report).value().heads.at(9) == (ShardHead{{2, NodeId{4}}, 33}));
}

BOOST_AUTO_TEST_CASE(a_cell_that_is_not_ours_fails_the_stop) {
  const Ended ended = stopped_with("{}");
  BOOST_TEST(!ended.report.has_value());
  BOOST_TEST(ended.why.find("head/") != std::string::npos, ended.why);
}

/// The reason for which the coordinator cannot assign shards when a member sends this report.
std::string why_not_dealt(ShardsOptions options, std::uint32_t node, const std::string& report) {
  Host host;
  Member member;
  member.node = NodeId{node};
  member.holdings.report = Report{report};
  Reorganization reorganization;
  reorganization.group = {1, NodeId{3}};
  reorganization.members = {member};
  std::string why;
  make_shards(options)(host)->reorganize(std::move(reorganization),
                                         Done<Definition>([&](auto outcome) {
                                           if (!outcome) why = outcome.error();
                                         }));
  return why;
}

BOOST_AUTO_TEST_CASE(a_report_that_is_no_report_fails_the_reorganize) {
  const std::string why = why_not_dealt({}, 4, "garbage");
  BOOST_TEST(why.find("node 4") != std::string::npos, why);
}

BOOST_AUTO_TEST_CASE(a_definition_of_too_many_shards_fails_the_reorganize) {
  const std::string why = why_not_dealt({20, -1, 4096}, 3, "");
  BOOST_TEST(why.find("at most 32768") != std::string::npos, why);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::apps
