#pragma once

#include <muster/host/hook_runner.hpp>
#include <muster/host/inbox.hpp>
#include <muster/protocol/protocol.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

/// One life of a node, except its sockets, clock, disk and threads. These belong to its driver,
/// which is muster::net, the simulator or a test. The sessions of the life are separate
/// (muster/host/sessions.hpp).

namespace MUSTER_EXPORT muster {
namespace host {

/// The functions of the driver that the host of a life calls. These functions do not call the host,
/// with two exceptions: `left` and `action_performed` may call `end`.
class Driver {
 public:
  virtual ~Driver() = default;

  /// The time by a clock that also runs while the machine sleeps.
  [[nodiscard]] virtual Duration now() = 0;
  /// For how long the driver itself was paused since the last call of this function. During a pause
  /// the driver passes on no event that has arrived.
  virtual Duration paused_for() = 0;

  /// Sends a call, which may stay unanswered for `bound`, or an answer.
  virtual void send(const Letter& letter, std::optional<Duration> bound) = 0;
  /// Gives up all calls for which `awaited` returns false.
  virtual void keep_only(const std::function<bool(CallNumber)>& awaited) = 0;
  /// Calls `Host::expired` with the same timer and arming after `period`.
  virtual void arm(Timer timer, Duration period, Inbox::Arming arming) = 0;
  virtual void disarm(Timer) {}
  /// Makes `safe` durable, then calls `Host::saved`.
  virtual void save(const SafeState& safe) = 0;
  /// From now on permits are valid, for as long as a node may pause without failing. The permits
  /// end earlier if the node's right to work ends.
  virtual void permit_work(Duration now, std::optional<Moment> right) = 0;
  /// The protocol has ended this life in order.
  virtual void left(LeaveCause cause) = 0;

  /// Four calls for the journal and for observers, in this order. First, a step is about to be
  /// made. Then the step was made, and no action of it is performed yet. Then its Save is durable.
  /// At last, all actions of the step have begun.
  virtual void about_to_step() {}
  virtual void stepped(const Event& event, const Actions& actions, const View& after) = 0;
  virtual void save_performed() = 0;
  virtual void begun(const Event&, const View&) {}
  /// An action was performed. The driver may end the life here.
  virtual void action_performed() {}
};

/// Gives events to `step`, one after the other, and performs all actions of an event, in order,
/// before the next event.
///
/// @par Thread safety
/// None: one thread at a time.
/// @par Lifetime
/// `config`, `driver` and `hooks` must outlive the host.
class Host {
 public:
  /// `safe` is durable and contains this life's incarnation. No event may wait for longer than
  /// `longest_wait` by the driver's clock (assumption 9).
  Host(const Config& config, SafeState safe, Duration longest_wait, HookRunner::Limits limits,
       Driver& driver, HookHost& hooks);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  /// Gives the first event. Events that arrived earlier follow the first event.
  void begin();
  /// The life is over: the host drops every event that still arrives.
  void end();

  /// Appends an event.
  void put(Event event);
  /// Gives the events that wait.
  void turn();
  /// Does `work` before any further event is given, then gives all events that it has caused.
  void together(const std::function<void()>& work);

  void expired(Timer timer, Inbox::Arming arming);
  void saved();

  /// The coordinator of this node's group asks a question. Returns a number for `not_wanted`; 0 if
  /// it was answered at once, because this node is in another group.
  std::uint64_t asked(Inquiry inquiry, Answered answered);
  void not_wanted(std::uint64_t question) { hooks_.not_wanted(question); }

  /// The contents of safe storage.
  [[nodiscard]] const SafeState& safe() const { return stepped_ ? common(protocol_).safe : safe_; }
  [[nodiscard]] const Protocol& protocol() const { return protocol_; }
  /// True when all actions of the last step are performed.
  [[nodiscard]] bool is_at_rest() const { return !saving_ && performed_ == actions_.size(); }
  [[nodiscard]] bool is_in(GroupNumber group) const;
  /// The time that was given to the last step.
  [[nodiscard]] Moment stepped_at() const { return stepped_at_; }
  /// True once this life has been Normal. While failures of hooks in groups of several nodes are
  /// counted, only being Normal in such a group counts.
  [[nodiscard]] bool was_normal() const {
    return was_normal_in_company_ || (was_normal_ && common(protocol_).failed_in_company == 0);
  }
  /// The stamp of the next line of this life's journal.
  [[nodiscard]] journal::Stamp next_stamp(Duration t);

 private:
  Duration look_at_the_clock();
  void leave_out_what_is_known(Event& event) const;
  void give(const Event& event);
  void perform_rest();
  bool perform(const Action& action);  // false: the host goes on when the Save is durable
  void perform_send(const Send& send);
  void perform_start(const Start& start);
  void perform_stop(Stop stop);

  const Config& config_;
  const SafeState safe_;  ///< when the life began
  Driver& driver_;
  HookRunner hooks_;
  Protocol protocol_;
  View view_;  ///< after the last step
  Inbox inbox_;
  Actions actions_;
  std::size_t performed_ = 0;  ///< how many actions of the last step were performed
  Moment stepped_at_{};
  std::optional<Moment> right_;  ///< until when the application may work
  bool not_begun_ = false;       ///< the last `start` never began, so no `stop` is owed for it
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
