#pragma once

#include "apps/postgres/perform/acknowledger.hpp"
#include "apps/postgres/perform/postmaster.hpp"
#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/rows.hpp"

#include <optional>

/// An order while it is performed.

namespace muster::postgres {

/// The state that the orders of an instance share.
struct Core {
  Executor executor;
  InstanceOptions options;
  /// The contents of muster.conf. None: this life has not written the file yet.
  std::optional<Conf> conf{};
  std::unique_ptr<Postmaster> postmaster{};
  bool ending = false;            ///< the server was told to shut down
  std::optional<Term> term{};     ///< the greatest in the log
  std::optional<Session> kept{};  ///< a kept connection to our own server
  /// Why the server, a standby, admits no session of its node, although its data is whole. Orders
  /// then use its files and signals. Empty: it admits them.
  std::string refused_because{};
  /// Terms that this node has heard of and has still to write down. Its copies count before that,
  /// so that a fail-over does not wait for it.
  KnownTerms news{};
  std::optional<Acknowledger> acknowledger{};
  std::function<void(const Failed& how)> server_ended{};
  std::function<void(const std::string&)> log;  ///< tells the node's log a sentence
};

/// The log of the node's own server, a standby.
struct OwnLog {
  std::uint64_t system{};  ///< the system identifier
  bool is_standby = true;
  bool streams{};
  std::uint32_t timeline{};
  Lsn flushed;  ///< the log received is flushed up to here; zero: none has been received
  Lsn end;      ///< the greater of `flushed` and the position replayed
};

/// Called with the event that ends an order.
using Tell = std::function<void(AnyEvent)>;

/// One order that is being performed. Destroying it stops the work.
class OrderTask {
 public:
  OrderTask(Core& core, Tell tell) : core_(core), tell_(std::move(tell)), pause_(core.executor) {}
  OrderTask(const OrderTask&) = delete;
  OrderTask& operator=(const OrderTask&) = delete;
  virtual ~OrderTask();

  virtual void begin() = 0;
  /// Called when the server has ended.
  virtual void server_ended(const Failed& how) { fail(how.why); }
  /// True if this order handles the end of the server itself.
  [[nodiscard]] virtual bool is_about_end() const { return false; }

 protected:
  using Then = std::function<void(const Answer&)>;
  using Otherwise = std::function<void(const SqlError&)>;

  /// Ends the order. Call this at most once: the object can be destroyed at any time after the
  /// call.
  void done(AnyEvent what);
  void fail(const std::string& why) { done(Failed{why}); }
  /// Returns true if `outcome` is a success. Otherwise ends the order with the error of `outcome`.
  bool holds(const Expected<>& outcome);

  /// Sends one statement to our own server. Without `otherwise` an error ends the order.
  void ask(const std::string& statement, std::vector<std::string> parameters, Then then,
           Otherwise otherwise = nullptr);
  /// Sends one statement to our own server over a new connection.
  void ask_on_new_connection(const std::string& statement, std::vector<std::string> parameters,
                             Then then, Otherwise otherwise = nullptr);
  /// Sends one statement to another node's server.
  void ask_there(NodeId node, const std::string& statement, Then then,
                 Otherwise otherwise = nullptr);
  /// Reads how far the log of our own standby goes. If it admits no session, its files are read.
  void look_at_own_log(std::function<void(const OwnLog&)> then, Otherwise otherwise = nullptr);
  /// Makes a checkpoint at any node's server, however long that takes.
  void checkpoint_there(NodeId node, Then then);
  /// Writes muster.conf, and repairs postgresql.conf if it does not include that file any more.
  Expected<> write_conf(const Conf& conf);
  /// Fails if an error in a settings file keeps our own server from reading muster.conf. Otherwise
  /// calls `then`.
  void look_for_errors_in_files(const std::function<void()>& then);
  /// Records durably, beside the data, that the log has this term. Called before the node counts as
  /// a copy, so that a log without any marker does not pass for one of an older group.
  Expected<> record_term(std::uint64_t system, const Marker& marker);
  /// Writes down the terms that this node has heard of.
  Expected<> learn_news();
  /// Calls `what` a little later, unless `stop_waiting` is called before that.
  void again(std::function<void()> what);
  void stop_waiting() { pause_.stop(); }
  /// Runs a program of PostgreSQL until it ends. A failure ends the order.
  void run(const std::string& program, std::vector<std::string> arguments,
           std::function<void()> then);

  Core& core() { return core_; }
  [[nodiscard]] const InstanceOptions& options() const { return core_.options; }

 private:
  struct Question {
    std::string statement;
    std::vector<std::string> parameters;
    std::optional<Duration> bound;
    Then then;
    Otherwise otherwise;
  };
  void admits();
  void put_there(NodeId node, Question question);
  void connect(std::optional<Session>& session, NodeId to, Question question);
  void put(Session& session, Question question);

  Core& core_;
  Tell tell_;
  Pause pause_;
  std::optional<Session> there_;
  std::optional<Tool> tool_;
};

/// Makes the object that performs an order. Returns null for an order that an instance does not
/// perform.
std::unique_ptr<OrderTask> task_for(const What& what, Core& core, Tell tell);

/// One function for each order. Each file defines the functions of one topic.
std::unique_ptr<OrderTask> make_task(const Begin&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const End&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const Configure&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const ShowConf&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const CloseGate&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const FinishReplay&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const Look&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const Promote&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const WriteMarker&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const AwaitMarker&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const AwaitLogGone&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const AwaitCopies&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const Kick&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const Checkpoint&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const Acknowledge&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const EndAcknowledger&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const AwaitFollower&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const AwaitNoFollower&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const ReadLineage&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const WriteNote&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const Rewind&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const Clone&, Core&, Tell);
std::unique_ptr<OrderTask> make_task(const AwaitStreaming&, Core&, Tell);

}  // namespace muster::postgres
