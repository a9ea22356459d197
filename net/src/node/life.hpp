#pragma once

#include "node/hooks.hpp"
#include "node/permits.hpp"
#include "node/services.hpp"
#include "record/life_journal.hpp"
#include "wire/questions.hpp"

#include <muster/host/host.hpp>
#include <muster/journal/halted_in_turn.hpp>
#include <muster/net/node.hpp>
#include <muster/net/sessions.hpp>
#include <muster/net/storage_thread.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace muster::net {

class Metrics;

/// One life of a node. It connects its host (the protocol) to sockets, timers, the storage thread
/// and the user's executor. Used on the protocol's strand.
class Life final : public host::Driver, public std::enable_shared_from_this<Life> {
 public:
  /// Called on the strand, except `fatal`. `fatal` may be called from any thread, and does not
  /// return.
  struct Handlers {
    std::function<void(LeaveCause)> left;
    std::function<void(Duration back_after)> step_down;  ///< requested by its application
    std::function<void(const LifeClaims&)> outlived;
    std::function<void(Failure)> fatal;
    std::function<std::string()> status;
    std::function<void(std::string)> warn;
    /// The application reports that something is broken. Called from any thread, and maybe after
    /// the end of the life.
    std::function<void(const std::string& what)> broken;
    /// Called after each step, when the actions of the step have begun. `t` is the time of the
    /// step, and `after` the view after it.
    std::function<void(Duration t, const Event& event, const View& after)> stepped;
    Metrics* metrics = nullptr;  ///< counters; null if nothing reads them
  };

  /// The part of a life that other threads may see: the view after the last step, the time of that
  /// step, and counters.
  struct Seen {
    View view;
    Duration as_of{};
    std::string progress;
    Shown shown;         ///< the state that the application shows now
    std::string broken;  ///< NodeStatus::broken
    std::uint64_t journal_dropped{};
    std::uint64_t slow_saves{};
    Duration needed_T{};
    Counters counters;
    std::map<NodeId, std::string> differing;  ///< Sessions::differing
    std::map<NodeId, std::uint8_t> wire;      ///< Sessions::wire
    std::optional<Duration> heard;            ///< the time of the coordinator's last letter
    NodeSet halted_in_turn_by;                ///< HaltedInTurn::by, at present
  };

  /// `safe` is durable already, with the incarnation of this life.
  Life(boost::asio::any_io_executor strand, boost::asio::any_io_executor hooks,
       const NodeOptions& options, const MakeApplication& make_application, StorageThread& storage,
       std::shared_ptr<JournalWriter> journal, std::shared_ptr<const Tls> tls, SafeState safe,
       Handlers handlers);

  /// Listens. Connections that arrive before `recover` are served after it.
  Expected<> listen();
  /// Gives the host its first event.
  void recover();
  void leave();
  /// Asks for an election, for the reason that the node's owner gives.
  void elect(std::string why);
  /// Closes everything at once. The journal's last line has the reason.
  void end(const Failure& why);
  void break_connections();
  /// Breaks the connections whose certificates have expired.
  void break_unproven();
  /// Only writes the journal's last line, because the process is about to end by itself.
  void note_end(const Failure& why);
  [[nodiscard]] bool has_begun() const { return begun_; }
  [[nodiscard]] bool has_ended() const { return ended_; }
  /// True while permits are given.
  [[nodiscard]] bool may_work() const { return begun_ && !ended_ && permits_->may_work(); }
  /// The counters of this life's connections. Call this function and the next two only if the life
  /// has begun.
  [[nodiscard]] const Counters& counters() const { return sessions_->counters(); }
  [[nodiscard]] const Traffic& traffic() const { return sessions_->traffic(); }
  /// The number of its sessions.
  [[nodiscard]] std::size_t sessions() const { return sessions_->lives().size(); }
  /// The contents of safe storage.
  [[nodiscard]] const SafeState& safe() const { return host_->safe(); }
  /// True if the life was Normal at some time.
  [[nodiscard]] bool was_normal() const { return host_->was_normal(); }

  /// The last published state. From any thread, as the functions below.
  [[nodiscard]] Seen seen() const;
  [[nodiscard]] Incarnation incarnation() const { return safe_.incarnation; }
  /// Publishes the present counters. On the strand.
  void show_counters();

 private:
  [[nodiscard]] Duration now() override;
  Duration paused_for() override;
  void send(const Letter& letter, std::optional<Duration> bound) override {
    acts_ = true;
    sessions_->send(letter, bound);
  }
  void keep_only(const std::function<bool(CallNumber)>& awaited) override;
  void arm(Timer timer, Duration period, Inbox::Arming arming) override;
  void disarm(Timer timer) override;
  void save(const SafeState& safe) override;
  void permit_work(Duration now, std::optional<Moment> right) override {
    permits_->turned(now, right);
  }
  void left(LeaveCause cause) override;
  void about_to_step() override;
  void stepped(const Event& event, const Actions& actions, const View& after) override;
  void save_performed() override;
  void begun(const Event& event, const View& after) override;

  void make_parts();
  void on_event(Event event);
  [[nodiscard]] Duration longest_wait() const { return options_.config.timings.T / 2; }
  /// After this time without any other event the life wakes up by a timer. The rest of
  /// `longest_wait` allows for a late machine.
  [[nodiscard]] Duration longest_stillness() const { return longest_wait() / 3; }
  void flush();
  void hook_fatal(HookFault fault, const std::string& why);
  void watch();
  void note_stillness();
  void note_save(Duration took);
  void note_pause(Duration gap);
  void remark(journal::RemarkKind kind, const std::string& text);
  void note_wait(const char* what, Duration time, const char* otherwise);
  void note_halt(const Event& event, const View& after);
  void show(const View& view);

  void begin_journal();
  void write_journal(const std::function<void(std::string&, const journal::Stamp&)>& append,
                     bool waits = true);
  NodeServices::Handlers service_handlers();
  Sessions::Handlers session_handlers();
  Hooks::Handlers hook_handlers();
  Questions::Handlers question_handlers();

  boost::asio::any_io_executor strand_;
  const std::shared_ptr<Way> way_;  ///< used by permits, which may outlive this object
  boost::asio::any_io_executor hooks_executor_;
  const NodeOptions& options_;
  const Config config_;
  const MakeApplication& make_application_;
  StorageThread& storage_;
  const std::shared_ptr<const Tls> tls_;
  const SafeState safe_;  ///< the state with which the life began
  Handlers handlers_;

  std::shared_ptr<LifePermits> permits_;
  std::shared_ptr<NodeServices> services_;
  std::shared_ptr<Hooks> hooks_;
  std::unique_ptr<Sessions> sessions_;
  std::shared_ptr<Questions> questions_;
  std::shared_ptr<JournalWriter> writer_;
  std::unique_ptr<LifeJournal> journal_;

  std::unique_ptr<host::Host> host_;
  bool begun_ = false;
  bool ended_ = false;

  std::vector<boost::asio::steady_timer> timers_;  ///< one for each Timer
  boost::asio::steady_timer watch_;
  Duration last_alive_{};
  unsigned pauses_ = 0;
  Duration paused_for_{};  ///< the longest pause since the host last asked for it

  Duration step_at_{};             ///< when the present step began
  bool acts_ = false;              ///< the step asks for an action, so `flush` waits for its line
  mutable std::mutex seen_mutex_;  // guards the three below
  Seen seen_;
  HaltedInTurn halted_in_turn_;
  std::shared_ptr<const NodeServices> shows_;  ///< null before the life has begun
};

}  // namespace muster::net
