#pragma once

#include "apps/postgres/perform/postmaster.hpp"
#include "apps/postgres/server/conf.hpp"
#include "apps/postgres/server/rows.hpp"

#include <optional>

/// One order while it is performed.

namespace muster::postgres {

/// What the orders of an instance have in common.
struct Core {
  Executor executor;
  InstanceOptions options;
  std::optional<Conf> conf;  ///< what muster.conf says, once it was written in this life
  std::unique_ptr<Postmaster> postmaster;
  bool ending = false;          ///< it was told to shut down
  std::optional<Session> kept;  ///< to our own server
  std::function<void(const Failed& how)> server_ended;
};

/// Told how an order ended.
using Tell = std::function<void(HasHappened)>;

/// Dropping it ends what is going on.
class Errand {
 public:
  Errand(Core& core, Tell tell) : core_(core), tell_(std::move(tell)), pause_(core.executor) {}
  Errand(const Errand&) = delete;
  Errand& operator=(const Errand&) = delete;
  virtual ~Errand();

  virtual void begin() = 0;
  /// The server has ended.
  virtual void server_ended(const Failed& how) { fail(how.why); }
  /// The server's end is this order's own affair.
  [[nodiscard]] virtual bool is_about_end() const { return false; }

 protected:
  using Then = std::function<void(const Answer&)>;
  using Otherwise = std::function<void(const SqlError&)>;

  /// Once; it may be dropped at any time after.
  void done(HasHappened what);
  void fail(const std::string& why) { done(Failed{why}); }
  /// False, and over, where that failed.
  bool holds(const Expected<>& outcome);

  /// One statement to our own server. Without `otherwise` an error is the end of the order.
  void ask(const std::string& statement, std::vector<std::string> parameters, Then then,
           Otherwise otherwise = nullptr);
  /// The same over a new connection.
  void ask_anew(const std::string& statement, std::vector<std::string> parameters, Then then,
                Otherwise otherwise = nullptr);
  /// The same to another node's, which may take for ever.
  void ask_there(NodeId node, const std::string& statement, Then then,
                 Otherwise otherwise = nullptr);
  /// A little later.
  void again(std::function<void()> what);
  /// Runs a program of PostgreSQL to its end; a failure is the end of the order.
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
  void connect(std::optional<Session>& session, NodeId to, Question question);
  void put(Session& session, Question question);

  Core& core_;
  Tell tell_;
  Pause pause_;
  std::optional<Session> there_;
  std::optional<Tool> tool_;
};

/// What performs an order; none for what an instance does not perform.
std::unique_ptr<Errand> errand_for(const What& what, Core& core, Tell tell);

/// One for each order, in files by what it is about.
std::unique_ptr<Errand> make_errand(const Begin&, Core&, Tell);
std::unique_ptr<Errand> make_errand(const End&, Core&, Tell);
std::unique_ptr<Errand> make_errand(const Configure&, Core&, Tell);
std::unique_ptr<Errand> make_errand(const ShowNames&, Core&, Tell);
std::unique_ptr<Errand> make_errand(const EndWalsenders&, Core&, Tell);
std::unique_ptr<Errand> make_errand(const FinishReplay&, Core&, Tell);
std::unique_ptr<Errand> make_errand(const Look&, Core&, Tell);
std::unique_ptr<Errand> make_errand(const Promote&, Core&, Tell);
std::unique_ptr<Errand> make_errand(const WriteTerm&, Core&, Tell);
std::unique_ptr<Errand> make_errand(const AwaitCopies&, Core&, Tell);
std::unique_ptr<Errand> make_errand(const Kick&, Core&, Tell);
std::unique_ptr<Errand> make_errand(const Checkpoint&, Core&, Tell);
std::unique_ptr<Errand> make_errand(const AwaitFollower&, Core&, Tell);
std::unique_ptr<Errand> make_errand(const AwaitNoFollower&, Core&, Tell);
std::unique_ptr<Errand> make_errand(const ReadLineage&, Core&, Tell);
std::unique_ptr<Errand> make_errand(const WriteNote&, Core&, Tell);
std::unique_ptr<Errand> make_errand(const Rewind&, Core&, Tell);
std::unique_ptr<Errand> make_errand(const Clone&, Core&, Tell);
std::unique_ptr<Errand> make_errand(const AwaitStreaming&, Core&, Tell);

}  // namespace muster::postgres
