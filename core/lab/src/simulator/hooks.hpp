#pragma once

#include "permits.hpp"

#include <muster/host/hook_host.hpp>

namespace muster::lab::simulated {

/// The hooks of one life, called on the world's executor, each with the fate that the world chose.
class Hooks final : public HookHost {
 public:
  struct Handlers {
    std::function<void(Event)> event;
    std::function<void(Hook, journal::Edge, std::optional<GroupNumber>, Ticket, const Members*)>
        edge;
    std::function<void(journal::PermitsEdge, GroupNumber)> permits;
    std::function<void(const std::string& why)> fatal;
    std::function<HookFate(Hook)> fate;
    std::function<void(NodeId, Inquiry, Answered)> ask;
    std::function<void()> give_up_questions;
  };

  Hooks(std::shared_ptr<Process> process, Services& services, const MakeApplication& make,
        LifePermits& permits, Handlers handlers)
      : process_(std::move(process)),
        services_(services),
        make_(make),
        permits_(permits),
        handlers_(std::move(handlers)) {}

  /// The life is over. Gives the application, which is to end when nothing calls it.
  std::unique_ptr<Application> abandon() { return std::move(application_); }

  [[nodiscard]] Application* application() const { return application_.get(); }

 private:
  void call(std::optional<Hook> hook, Call call, Ended ended) override;
  void tell(std::function<void()> work) override { process_->soon(std::move(work)); }
  void request_stop(std::stop_source cancel) override;
  void bound(Duration deadline, std::function<void()> overrun) override;
  void unbound() override { ++deadlines_; }
  [[nodiscard]] Duration left() const override { return due_ - process_->now(); }
  void grant(GroupNumber group) override { permits_.grant(group); }
  std::optional<GroupNumber> revoke(std::function<void()> returned) override;
  [[nodiscard]] PermitsOut permits_out() const override { return permits_.out(); }
  void event(Event event) override { handlers_.event(std::move(event)); }
  void note(Hook hook, journal::Edge edge, std::optional<GroupNumber> group, Ticket ticket,
            const Members* members) override {
    handlers_.edge(hook, edge, group, ticket, members);
  }
  void note(journal::PermitsEdge edge, GroupNumber group) override {
    handlers_.permits(edge, group);
  }
  std::function<void(std::string)> new_listener() override { return {}; }
  std::function<void(std::function<void()>)> new_door() override;
  void ask(NodeId member, Inquiry inquiry, Ended answered) override {
    handlers_.ask(member, std::move(inquiry), std::move(answered));
  }
  void give_up_questions() override { handlers_.give_up_questions(); }
  void fatal(const std::string& why) override { handlers_.fatal(why); }

  std::shared_ptr<Process> process_;
  Services& services_;
  const MakeApplication& make_;
  LifePermits& permits_;
  Handlers handlers_;
  std::unique_ptr<Application> application_;
  std::uint64_t deadlines_ = 0;  ///< so that the end of an earlier one is not taken for this one's
  Duration due_{};
};

}  // namespace muster::lab::simulated
