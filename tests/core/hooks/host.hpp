#pragma once

#include <muster/host/hook_runner.hpp>
#include <muster/values/archive.hpp>

#include <boost/test/unit_test.hpp>

#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

// An application and a host. With them tests check the rules of the hooks without a world.

namespace muster::test {

using namespace std::chrono_literals;

inline const GroupNumber g7{7, NodeId{3}};

inline Member member(std::uint32_t id, std::optional<GroupNumber> group = {}) {
  Member member;
  member.node = NodeId{id};
  member.holdings.group = group;
  member.holdings.empty = !group;
  return member;
}

inline Definition task_of(NodeSet members, std::string definition,
                          std::map<NodeId, Bytes> parts = {}) {
  return {encode(Task{std::move(members), {std::move(definition)}, std::move(parts)})};
}

/// An application that stores the arguments of its hooks, and the functions that end these hooks.
struct Played : Application {
  std::optional<StopContext> stopped;
  std::optional<Reorganization> reorganized;
  std::optional<Assignment> started;
  std::optional<Done<Bytes>> bytes;
  std::optional<Done<>> done;
  std::optional<Question> question;
  std::optional<Done<Bytes>> answered;

  void stop(StopContext context, Done<Report> end) override {
    stopped = std::move(context);
    bytes = std::move(end);
  }
  void reorganize(Reorganization context, Done<Definition> end) override {
    reorganized = std::move(context);
    bytes = std::move(end);
  }
  void start(Assignment context, Done<> end) override {
    started = std::move(context);
    done = std::move(end);
  }
  void answer(Question asked, Done<Bytes> end) override {
    question = std::move(asked);
    answered = std::move(end);
  }
};

/// A host without threads or timers. It does everything that it can do at once.
struct Host : HookHost {
  Host() = default;
  explicit Host(const std::optional<Assigned>& assigned)
      : runner(*this, NodeId{2}, limits(), assigned) {}

  static HookRunner::Limits limits() {
    HookRunner::Limits limits;
    limits.definition = 10;
    limits.report = 4;
    limits.answer = 6;
    return limits;
  }
  void call(std::optional<Hook>, Call call, Ended on_ended) override {
    call(played, [this, on_ended](Outcome outcome) {
      ends.emplace_back([on_ended, outcome] { on_ended(outcome); });
    });
  }
  /// Gives the runner the results of the hooks that have ended.
  void look() {
    while (!ends.empty()) {
      const auto end = std::move(ends.front());
      ends.pop_front();
      end();
    }
  }
  /// Ends the running `stop` or `reorganize` with this value.
  void end(Bytes value) {
    (*played.bytes)(std::move(value));
    look();
  }
  void end_start() {
    (*played.done)();
    look();
  }
  void end_answer(Bytes value) {
    (*played.answered)(std::move(value));
    look();
  }
  void fail_answer(const std::string& why) {
    played.answered->fail(why);
    look();
  }
  void request_stop(std::stop_source cancel) override { cancel.request_stop(); }
  void bound(Duration deadline, std::function<void()> overrun) override {
    left_ = deadline;
    overrun_ = std::move(overrun);
  }
  void unbound() override { overrun_ = nullptr; }
  [[nodiscard]] Duration left() const override { return left_; }
  void grant(GroupNumber group) override { granted = group; }
  std::optional<GroupNumber> revoke(std::function<void()> returned) override {
    if (granted) returned_ = std::move(returned);
    return std::exchange(granted, std::nullopt);
  }
  [[nodiscard]] PermitsOut permits_out() const override { return out; }
  void event(Event event) override { events.push_back(std::move(event)); }
  void note(Hook, journal::Edge, std::optional<GroupNumber>, Ticket, const Members*) override {}
  void note(journal::PermitsEdge, GroupNumber) override {}
  std::function<void(std::string)> new_listener() override {
    how_far.clear();
    return [this](std::string text) { how_far = std::move(text); };
  }
  void tell(std::function<void()> work) override { work(); }
  std::function<void(std::function<void()>)> new_door() override {
    return [there = std::weak_ptr(here)](const std::function<void()>& work) {
      if (there.lock()) work();
    };
  }
  void ask(NodeId member, Inquiry inquiry, Ended on_ended) override {
    BOOST_TEST(!asked.contains(member));
    asked[member] = {inquiry.bytes.data, std::move(on_ended)};
  }
  /// Ends the coordinator's question to that member with this outcome.
  void answer(std::uint32_t member, Outcome outcome) {
    const auto on_ended = asked.extract(NodeId{member}).mapped().second;
    on_ended(std::move(outcome));
  }
  void give_up_questions() override { asked.clear(); }
  void fatal(HookFault fault, const std::string& why) override {
    died = why;
    is_late = fault == HookFault::late;
  }

  template <class E>
  [[nodiscard]] const E* last() const {
    return events.empty() ? nullptr : std::get_if<E>(&events.back());
  }

  // Declared first: when the members below are destroyed, a Done may be dropped, which adds to
  // `ends`.
  std::deque<std::function<void()>> ends;
  Played played;
  Duration left_{};
  std::function<void()> overrun_, returned_;
  std::optional<GroupNumber> granted;
  PermitsOut out{{"", 1}};
  std::vector<Event> events;
  std::string how_far, died;
  bool is_late = false;  ///< the host ended with HookFault::late
  std::map<NodeId, std::pair<std::string, Ended>> asked;
  std::shared_ptr<bool> here = std::make_shared<bool>();
  HookRunner runner{*this, NodeId{2}, limits(), std::nullopt};
};

inline void stopped_first(Host& host) {
  host.runner.perform(Stop{Ticket{1}, {StopReason::own_election, {}}, true});
  host.end({"held"});
  host.events.clear();
}

struct StoppedHost : Host {
  StoppedHost() { stopped_first(*this); }
};

}  // namespace muster::test
