#pragma once

#include "permits.hpp"

#include <muster/application.hpp>
#include <muster/journal.hpp>

#include <stop_token>

namespace muster::lab::simulated {

/// Runs the application's hooks for one life: one at a time on the world's executor, each under
/// its deadline, with permits revoked and returned around them. As muster::net has it.
class Hooks {
 public:
  struct Handlers {
    std::function<void(Event)> event;  ///< Stopped, Reorganized, Started, HookFailed
    std::function<void(Hook, journal::Edge, std::optional<GroupNumber>, Ticket, const Members*)>
        edge;
    std::function<void(journal::PermitsEdge, GroupNumber)> permits;
    std::function<void(std::string why)> fatal;
    std::function<HookFate(Hook)> fate;
  };

  Hooks(std::shared_ptr<Process> process, Services& services, const MakeApplication& make,
        Permits& permits, const Timings& timings, Handlers handlers)
      : process_(std::move(process)),
        services_(services),
        make_(make),
        permits_(permits),
        timings_(timings),
        handlers_(std::move(handlers)) {}

  void perform(const Stop& action);
  void perform(const Reorganize& action);
  void perform(const Start& action);

  /// The life is over. Gives the application, which is to end when nothing calls it.
  std::unique_ptr<Application> abandon();

  [[nodiscard]] Application* application() const { return application_.get(); }

 private:
  struct Running {
    Hook hook{};
    Ticket ticket;
    std::optional<GroupNumber> group;
    std::stop_source cancel;
    bool overran = false;
    std::optional<std::string> fails;  ///< whatever the application says
    Duration late{};                   ///< so much later it ends
  };
  struct Stopping {
    Ticket ticket;
    StopCause cause;
    bool owed = false;
    bool ceased = false;    ///< no hook runs any more, `stop` included
    bool returned = false;  ///< no permit is out any more
    std::optional<Report> report;
  };

  template <class Value, class Call>
  void run(Hook hook, Ticket ticket, std::optional<GroupNumber> group, const Members* members,
           Call call);
  template <class Value>
  Done<Value> done(Hook hook, Ticket ticket);
  template <class Value>
  void ended(Hook hook, Ticket ticket, boost::system::result<Value, std::string> outcome);
  void ended_well(const Running& ran, Bytes value);
  void ended_well(const Running& ran, std::monostate);
  void ended_badly(const Running& ran, const std::string& why);
  void go_on_stopping();
  void stopped_when_all_done();
  void bound(Duration deadline, std::function<void()> overrun);
  void cancel_running();

  std::shared_ptr<Process> process_;
  Services& services_;
  const MakeApplication& make_;
  Permits& permits_;
  const Timings& timings_;
  Handlers handlers_;
  std::unique_ptr<Application> application_;
  std::uint64_t deadlines_ = 0;  ///< so that the end of an earlier one is not taken for this one's
  std::optional<Running> running_;
  std::optional<Stopping> stopping_;
  std::optional<GroupNumber> group_;  ///< what was started last: what a `stop` is about
};

}  // namespace muster::lab::simulated
