#pragma once

#include "permits.hpp"

#include <muster/application.hpp>
#include <muster/journal.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace muster::net {

/// Runs the application's hooks for one life: one at a time on the user's executor, each under its
/// deadline, with permits revoked and returned around them. Lives on the protocol's strand.
class Hooks : public std::enable_shared_from_this<Hooks> {
 public:
  struct Limits {
    Timings timings;
    std::size_t report = 0;
    std::size_t definition = 0;
  };
  /// All called on the strand.
  struct Handlers {
    std::function<void(Event)> event;  ///< Stopped, Reorganized, Started, HookFailed
    std::function<void(Hook, journal::Edge, std::optional<GroupNumber>, Ticket, const Members*)>
        edge;
    std::function<void(journal::PermitsEdge, GroupNumber)> permits;
    std::function<void(std::string why)>
        fatal;  ///< a hook failed in a way that only ends a process
  };

  Hooks(boost::asio::any_io_executor strand, boost::asio::any_io_executor executor,
        std::shared_ptr<Services> services, MakeApplication make_application,
        std::shared_ptr<Permits> permits, Limits limits, Handlers handlers);

  void perform(const Stop& action);
  void perform(const Reorganize& action);
  void perform(const Start& action);

  /// The life is over: whatever still comes is dropped, and the application ends where its hooks
  /// ran.
  void abandon();

 private:
  /// The user's side: made, called and ended on the user's executor only.
  struct User {
    std::shared_ptr<Services> services;
    MakeApplication make;
    std::unique_ptr<Application> application;
  };
  struct Running {
    Hook hook{};
    Ticket ticket;
    std::optional<GroupNumber> group;
    std::stop_source cancel;
    bool overran = false;
  };
  struct Stopping {
    Ticket ticket;
    StopCause cause;
    bool owed = false;
    bool ceased = false;    ///< no hook runs any more, `stop` included
    bool returned = false;  ///< no permit is out any more
    std::optional<Report> report;
  };

  template <class Value>
  Done<Value> done(Hook hook, Ticket ticket);
  template <class Value, class Call>
  void run(Hook hook, Ticket ticket, std::optional<GroupNumber> group, const Members* members,
           Call call);
  template <class Value>
  void ended(Hook hook, Ticket ticket, boost::system::result<Value, std::string> outcome);
  void ended_well(const Running& ran, Report report);
  void ended_well(const Running& ran, std::monostate);
  void ended_badly(const Running& ran, const std::string& why);
  void go_on_stopping();
  void stopped_when_all_done();
  void bound(Duration deadline, std::function<void()> overrun);
  void unbound();
  void cancel_running();

  boost::asio::any_io_executor strand_;
  boost::asio::any_io_executor executor_;
  std::shared_ptr<User> user_;
  std::shared_ptr<Permits> permits_;
  const Limits limits_;
  Handlers handlers_;
  boost::asio::steady_timer deadline_;
  std::uint64_t deadlines_ = 0;  ///< so that the end of an earlier one is not taken for this one's
  std::optional<Running> running_;
  std::optional<Stopping> stopping_;
  std::optional<GroupNumber> group_;  ///< what was started last: what a `stop` is about
  bool abandoned_ = false;
};

}  // namespace muster::net
