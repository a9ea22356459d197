#pragma once

#include "permits.hpp"

#include <muster/host/hook_runner.hpp>

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
        LifePermits& permits, const Timings& timings, const std::optional<Assigned>& assigned,
        Handlers handlers)
      : process_(std::move(process)),
        services_(services),
        make_(make),
        permits_(permits),
        handlers_(std::move(handlers)),
        runner_(*this, services.self(), HookRunner::Limits{timings}, assigned) {}

  void perform(const Stop& action) { runner_.perform(action); }
  void perform(const Reorganize& action) { runner_.perform(action); }
  void perform(const Start& action) { runner_.perform(action); }

  std::uint64_t asked(Inquiry inquiry, Answered answered) {
    return runner_.asked(std::move(inquiry), std::move(answered));
  }
  void not_wanted(std::uint64_t question) { runner_.not_wanted(question); }

  /// The life is over. Gives the application, which is to end when nothing calls it.
  std::unique_ptr<Application> abandon();

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
  HookRunner runner_;
};

}  // namespace muster::lab::simulated
