#pragma once

#include <muster/host/hook_runner.hpp>
#include <muster/host/inbox.hpp>
#include <muster/protocol/protocol.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

/// One life of a node but for its sockets, clock, disk and threads: those are its driver's, which
/// is muster::net, the simulator, or a test. The sessions of the life are beside it
/// (muster/host/sessions.hpp).

namespace MUSTER_EXPORT muster {
namespace host {

/// What the host of a life has its driver do. None of these calls the host back from within, but
/// for `end`, within `left` and `action_performed`.
class Driver {
 public:
  virtual ~Driver() = default;

  /// By a clock that also runs while the machine sleeps.
  [[nodiscard]] virtual Duration now() = 0;
  /// For how long nothing was given that had come, for the driver itself stood still, since this
  /// was asked last.
  virtual Duration stood_still() = 0;

  /// Takes a call, which may stay unanswered for `bound`, or an answer.
  virtual void send(const Letter& letter, std::optional<Duration> bound) = 0;
  /// Calls for which `awaited` is false are given up.
  virtual void keep_only(const std::function<bool(CallNumber)>& awaited) = 0;
  /// Has `Host::expired` called with the same after that time.
  virtual void arm(Timer timer, Duration period, Inbox::Arming arming) = 0;
  virtual void disarm(Timer) {}
  /// Makes it durable, then calls `Host::saved`.
  virtual void save(const SafeState& safe) = 0;
  /// What is permitted is valid from now on, for as long as a node may stand still, and no longer
  /// than its right to work lasts, where it has one.
  virtual void permit_work(Duration now, std::optional<Moment> right) = 0;
  /// The protocol has ended this life in order.
  virtual void left(LeaveCause cause) = 0;

  /// For the journal, and for whoever watches: a step comes; it was made, and none of its actions
  /// is performed yet; its Save is durable; all was begun that it asked for.
  virtual void about_to_step() {}
  virtual void stepped(const Event& event, const Actions& actions, const View& after) = 0;
  virtual void save_performed() = 0;
  virtual void begun(const Event&, const View&) {}
  /// A life may end here.
  virtual void action_performed() {}
};

/// Gives events to `step`, one after the other, and performs the actions of each in order before
/// the next. To be used by one thread at a time.
class Host {
 public:
  /// `safe` is durable, with this life's incarnation. Nothing may wait for longer than
  /// `longest_wait`, by the driver's clock (assumption 9). `config`, `driver` and `hooks` outlive
  /// it.
  Host(const Config& config, SafeState safe, Duration longest_wait, HookRunner::Limits limits,
       Driver& driver, HookHost& hooks);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  /// Gives the first event. What has come before waits for it.
  void begin();
  /// The life is over: whatever still comes is dropped.
  void end();

  /// The event waits for its turn.
  void put(Event event);
  /// Gives what waits.
  void turn();
  /// Nothing is given before the work is done, then all that it has brought.
  void together(const std::function<void()>& work);

  void expired(Timer timer, Inbox::Arming arming);
  void saved();

  /// The coordinator of this node's group asks. Gives the number by which the question can be given
  /// up; 0 where it was answered at once, for this node is in another group.
  std::uint64_t asked(Inquiry inquiry, Answered answered);
  void not_wanted(std::uint64_t question) { hooks_.not_wanted(question); }

  /// What is in safe storage.
  [[nodiscard]] const SafeState& safe() const { return stepped_ ? common(protocol_).safe : safe_; }
  [[nodiscard]] const Protocol& protocol() const { return protocol_; }
  /// True when all actions of the last step are performed.
  [[nodiscard]] bool is_at_rest() const { return !saving_ && performed_ == actions_.size(); }
  [[nodiscard]] bool is_in(GroupNumber group) const;
  /// What the last step was given as the time.
  [[nodiscard]] Moment stepped_at() const { return stepped_at_; }
  /// True when it has been Normal; in company, if it has failed in company since.
  [[nodiscard]] bool was_normal() const {
    return was_normal_in_company_ || (was_normal_ && common(protocol_).failed_in_company == 0);
  }
  /// Of the next line of this life's journal.
  [[nodiscard]] journal::Stamp next_stamp(Duration t);

 private:
  Duration look_at_the_clock();
  void leave_out_what_is_known(Event& event) const;
  void give(const Event& event);
  void perform_rest();
  bool perform(const Action& action);  // false: goes on when the Save is durable
  void perform_send(const Send& send);
  void perform_start(const Start& start);
  void perform_stop(Stop stop);

  const Config& config_;
  const SafeState safe_;  ///< with which it began
  Driver& driver_;
  HookRunner hooks_;
  Protocol protocol_;
  View view_;  ///< after the last step
  Inbox inbox_;
  Actions actions_;
  std::size_t performed_ = 0;  ///< actions of the last step that were performed
  Moment stepped_at_{};
  std::optional<Moment> right_;  ///< until when the application may work
  bool not_begun_ = false;       ///< the last start: no stop is owed for it
  bool begun_ = false;
  bool turning_ = false;
  bool saving_ = false;
  bool stepped_ = false;
  bool was_normal_ = false;
  bool was_normal_in_company_ = false;
  bool ended_ = false;
  std::uint64_t seq_ = 0;
};

}  // namespace host
}  // namespace muster
