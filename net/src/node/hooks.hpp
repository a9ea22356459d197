#pragma once

#include "base/alarm.hpp"
#include "base/way.hpp"
#include "node/permits.hpp"

#include <muster/host/hook_host.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace muster::net {

/// Calls the hooks of one life on the user's executor. Used on the protocol's strand.
class Hooks final : public HookHost, public std::enable_shared_from_this<Hooks> {
 public:
  /// All handlers are called on the strand.
  struct Handlers {
    std::function<void(Event)> event;
    std::function<void(Hook, journal::Edge, std::optional<GroupNumber>, Ticket, const Members*)>
        edge;
    std::function<void(journal::PermitsEdge, GroupNumber)> permits;
    std::function<void(NodeId, Inquiry, Answered)> ask;
    std::function<void()> give_up_questions;
    std::function<void(HookFault, const std::string& why)> fatal;
  };

  Hooks(boost::asio::any_io_executor strand, boost::asio::any_io_executor executor,
        std::shared_ptr<Services> services, MakeApplication make_application,
        std::shared_ptr<LifePermits> permits, Handlers handlers);

  ~Hooks() override { way_->close(); }

  /// The life is over. Later results are dropped, and the application is destroyed on the executor
  /// of its hooks.
  void abandon();

  /// The progress that the last hook reported; empty: none.
  [[nodiscard]] std::string how_far() const;

 private:
  /// The user's side. These objects are made, called and destroyed on the user's executor only.
  struct User {
    std::shared_ptr<Services> services;
    MakeApplication make;
    std::unique_ptr<Application> application;
  };

  struct HowFar {
    std::mutex mutex;  // guards text
    std::string text;
  };

  void call(std::optional<Hook> hook, Call call, Ended on_ended) override;
  void call_next(std::optional<Hook> hook);
  [[nodiscard]] std::function<void(const std::string&)> fatal_later();
  void tell(std::function<void()> work) override;
  void request_stop(std::stop_source cancel) override;
  void bound(Duration deadline, std::function<void()> overrun) override;
  void unbound() override;
  [[nodiscard]] Duration left() const override;
  void grant(GroupNumber group) override { permits_->grant(group); }
  std::optional<GroupNumber> revoke(std::function<void()> returned) override;
  [[nodiscard]] PermitsOut permits_out() const override { return permits_->out(); }
  void event(Event event) override { handlers_.event(std::move(event)); }
  void note(Hook hook, journal::Edge edge, std::optional<GroupNumber> group, Ticket ticket,
            const Members* members) override {
    handlers_.edge(hook, edge, group, ticket, members);
  }
  void note(journal::PermitsEdge edge, GroupNumber group) override {
    handlers_.permits(edge, group);
  }
  std::function<void(std::string)> new_listener() override;
  std::function<void(std::function<void()>)> new_door() override;
  void ask(NodeId member, Inquiry inquiry, Ended answered) override {
    handlers_.ask(member, std::move(inquiry), std::move(answered));
  }
  void give_up_questions() override { handlers_.give_up_questions(); }
  void fatal(HookFault fault, const std::string& why) override { handlers_.fatal(fault, why); }

  boost::asio::any_io_executor strand_;
  /// The way to the strand for objects that the user has and that may outlive this one.
  const std::shared_ptr<Way> way_;
  boost::asio::any_io_executor executor_;
  std::shared_ptr<User> user_;
  std::shared_ptr<LifePermits> permits_;
  Handlers handlers_;
  Alarm deadline_;
  bool abandoned_ = false;
  std::deque<std::function<void()>> waiting_;  ///< the next calls on the user's executor
  std::shared_ptr<HowFar> how_far_;  ///< progress of the last hook, which may outlive its node
};

}  // namespace muster::net
