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

/// Drives the host of one life: sockets, timers, the storage thread, the user's executor. Lives on
/// the protocol's strand.
class Life final : public host::Driver, public std::enable_shared_from_this<Life> {
 public:
  /// Called on the strand, but for `fatal`, which may be called from any thread and does not
  /// return.
  struct Handlers {
    std::function<void(LeaveCause)> left;
    std::function<void(Duration back_after)> step_down;  ///< its application wants to
    std::function<void(const Voices&)> outlived;
    std::function<void(Failure)> fatal;
    std::function<std::string()> status;
    std::function<void(std::string)> warn;
    /// Its application says that something is broken; from any thread, and when it is over too.
    std::function<void(const std::string& what)> broken;
    /// After each step, when what it asked for was begun: when it was, and what it made of the
    /// node.
    std::function<void(Duration t, const Event& event, const View& after)> stepped;
    Metrics* metrics = nullptr;  ///< what is counted goes there, where somebody may ask for it
  };

  /// What others may see of it: the view after the last step and when that was, and what was
  /// counted.
  struct Seen {
    View view;
    Duration as_of{};
    std::string progress;
    Shown shown;         ///< now
    std::string broken;  ///< NodeStatus::broken
    std::uint64_t journal_dropped{};
    std::uint64_t slow_saves{};
    Duration needed_T{};
    Counters counters;
    std::map<NodeId, std::string> differing;  ///< Sessions::differing
    std::map<NodeId, std::uint8_t> wire;      ///< Sessions::wire
    std::optional<Duration> heard;            ///< when the last letter of its coordinator came
    NodeSet halted_in_turn_by;                ///< HaltedInTurn::by, now
  };

  /// `safe` is durable, with this life's incarnation.
  Life(boost::asio::any_io_executor strand, boost::asio::any_io_executor hooks,
       const NodeOptions& options, const MakeApplication& make_application, StorageThread& storage,
       std::shared_ptr<JournalWriter> journal, std::shared_ptr<const Tls> tls, SafeState safe,
       Handlers handlers);

  /// Listens. What comes before `recover` waits for it.
  Expected<> listen();
  /// Gives the first event.
  void recover();
  void leave();
  /// Its owner wants an election, and says why.
  void elect(std::string why);
  /// Closes everything, now; the journal's last line says why.
  void end(const Failure& why);
  void break_connections();
  /// Those by certificates that have ended.
  void break_unproven();
  /// Writes the journal's last line and nothing else: for a process that ends itself.
  void note_end(const Failure& why);
  [[nodiscard]] bool has_begun() const { return begun_; }
  [[nodiscard]] bool has_ended() const { return ended_; }
  /// True while permits are given.
  [[nodiscard]] bool may_work() const { return begun_ && !ended_ && permits_->may_work(); }
  /// What was counted of its connections; for a life that has begun, as the next two.
  [[nodiscard]] const Counters& counters() const { return sessions_->counters(); }
  [[nodiscard]] const Traffic& traffic() const { return sessions_->traffic(); }
  /// How many stand.
  [[nodiscard]] std::size_t sessions() const { return sessions_->lives().size(); }
  /// What is in safe storage.
  [[nodiscard]] const SafeState& safe() const { return host_->safe(); }
  /// True when it has been Normal.
  [[nodiscard]] bool was_normal() const { return host_->was_normal(); }

  /// From any thread, as the others below: what was shown last.
  [[nodiscard]] Seen seen() const;
  [[nodiscard]] Incarnation incarnation() const { return safe_.incarnation; }
  /// Shows what is counted now; on the strand.
  void show_counters();

 private:
  [[nodiscard]] Duration now() override;
  Duration stood_still() override;
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
  void happened(Event event);
  [[nodiscard]] Duration longest_wait() const { return options_.config.timings.T / 2; }
  /// How long nothing happens to a node at most; the rest of the longest wait is for a late
  /// machine.
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
  const std::shared_ptr<Way> way_;  ///< for a permit, which may outlive this
  boost::asio::any_io_executor hooks_executor_;
  const NodeOptions& options_;
  const Config config_;
  const MakeApplication& make_application_;
  StorageThread& storage_;
  const std::shared_ptr<const Tls> tls_;
  const SafeState safe_;  ///< with which it began
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
  Duration stood_still_{};  ///< the longest, until the host was told

  Duration step_at_{};             ///< when the present step came
  bool acts_ = false;              ///< something comes of it: its line is waited for
  mutable std::mutex seen_mutex_;  // guards the three below
  Seen seen_;
  HaltedInTurn halted_in_turn_;
  std::shared_ptr<const NodeServices> shows_;  ///< once it has begun
};

}  // namespace muster::net
