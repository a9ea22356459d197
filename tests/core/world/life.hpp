#pragma once

#include <muster/claims/hook_grammar.hpp>
#include <muster/host/host.hpp>
#include <muster/host/sessions.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

namespace muster::test {

class World;
struct TestNode;

/// Thrown when a promise does not hold.
struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A running hook; only the test ends it.
struct Running {
  Hook hook{};
  Ticket ticket;
  HookHost::Ended on_ended;
  bool cancelled = false;
  std::uint64_t order = 0;  ///< when the hook began
};

/// The real state of a node's application, whatever the protocol believes.
struct TestApplication {
  std::optional<Running> running;
  std::optional<GroupNumber> permits;  ///< the group whose permits are valid
  std::optional<GroupNumber> works;    ///< its group from the begin of `start` to the end of `stop`
  bool discounted = false;  ///< the node has paused since `start`, so its work does not count
  std::optional<Report> last_report;
  HookGrammar grammar;
};

/// A timer that is armed.
struct Armed {
  Duration due{};
  Inbox::Arming arming{};
};

/// One life of a node: the host and the sessions that ship, with the test as their driver. The test
/// decides when each event comes, except that commits are durable at once.
class Life final : public host::Driver, public HookHost {
 public:
  enum class End { failed, left, stood_back };

  Life(World& world, TestNode& node, std::uint64_t instance);

  /// Begins the sessions, which dial the other nodes, and gives the host its first event.
  void begin();
  void put(Event event) { host_.put(std::move(event)); }
  void take(host::SessionInput input);
  void expire(Timer timer);
  void was_paused_for(Duration gap) { gap_ = gap; }
  void end_hook(Outcome outcome);
  /// Gives all waiting events to the protocol, and performs all resulting actions. This may end the
  /// life.
  void work();
  /// Ends the life. An ended life performs no further action.
  void end(End how);
  [[nodiscard]] std::optional<End> how_it_ended() const { return end_; }
  /// Tells the life that the world object has moved.
  void is_in(World& world) { world_ = &world; }

  [[nodiscard]] const Protocol& protocol() const { return host_.protocol(); }
  [[nodiscard]] Duration clock() const;

  host::Sessions sessions;
  std::map<NodeId, std::uint64_t> dials;  ///< pending dials, and when each began
  std::map<Timer, Armed> timers;

 private:
  // host::Driver
  [[nodiscard]] Duration now() override { return clock(); }
  Duration paused_for() override { return std::exchange(gap_, {}); }
  void send(const Letter& letter, std::optional<Duration> bound) override;
  void keep_only(const std::function<bool(CallNumber)>& awaited) override {
    sessions.keep_only(awaited);
  }
  void arm(Timer timer, Duration period, Inbox::Arming arming) override {
    timers[timer] = {clock() + period, arming};
  }
  void disarm(Timer timer) override { timers.erase(timer); }
  void save(const SafeState& safe) override;
  void permit_work(Duration, std::optional<Moment>) override {}
  void left(LeaveCause cause) override;
  void about_to_step() override { before_ = protocol(); }
  void stepped(const Event& event, const Actions& actions, const View& after) override;
  void save_performed() override;
  void action_performed() override;

  // HookHost
  void call(std::optional<Hook> hook, Call call, Ended on_ended) override;
  void tell(std::function<void()> work) override { soon_.push_back(std::move(work)); }
  void request_stop(std::stop_source) override;
  void bound(Duration deadline, std::function<void()>) override { left_ = deadline; }
  void unbound() override {}
  [[nodiscard]] Duration left() const override { return left_; }
  void grant(GroupNumber group) override;
  std::optional<GroupNumber> revoke(std::function<void()> returned) override;
  [[nodiscard]] PermitsOut permits_out() const override { return {}; }
  void event(Event event) override { host_.put(std::move(event)); }
  void note(Hook hook, journal::Edge edge, std::optional<GroupNumber> group, Ticket ticket,
            const Members* members) override;
  void note(journal::PermitsEdge edge, GroupNumber group) override;
  std::function<void(std::string)> new_listener() override { return {}; }
  std::function<void(std::function<void()>)> new_door() override {
    return [](const std::function<void()>&) {};
  }
  void ask(NodeId, Inquiry, Ended) override {}
  void give_up_questions() override {}
  void fatal(HookFault, const std::string&) override { end(End::failed); }

  // The instructions of the sessions
  void perform(const host::Dial& dial);
  void perform(const host::GiveUp& dial) { dials.erase(dial.node); }
  void perform(host::Write& write);
  void perform(const host::Close& close);
  void perform(const host::Drain& drain);
  void perform(host::LetterCame& came) { put(Received{std::move(came.letter), came.instance}); }
  void perform(const host::CallUnanswered& call) { put(Unanswered{call.by, call.call, call.how}); }
  void perform(const host::LifeOver& over) { put(Failed{over.node, over.life}); }
  void perform(host::OthersDiffer& others) {
    put(Differing{std::move(others.differ), std::move(others.agree)});
  }
  void perform(const host::OutlivedBy&);
  // This world ignores the instructions below: the test itself lets time pass, there are no
  // observers and no questions, and letters have no size.
  void perform(const host::Wake&) {}
  void perform(const host::Warning&) {}
  void perform(const host::HandOver&) {}
  void perform(const host::TellStatus&) {}
  void perform(const host::TellRoom&) {}

  void judge(const std::function<void()>& check);

  World* world_;
  TestNode& node_;
  std::optional<Violation> violation_;  ///< the first violation; thrown when the host has returned
  const host::SessionConfig config_;
  host::Host host_;
  Protocol before_;
  std::deque<std::function<void()>> soon_;
  std::optional<SafeState> saving_;
  std::optional<End> end_;
  Duration gap_{};
  Duration left_{};
};

}  // namespace muster::test
