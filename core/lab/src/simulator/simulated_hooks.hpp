#pragma once

#include "permits.hpp"

#include <muster/host/hook_host.hpp>
#include <muster/host/user_call.hpp>

namespace muster::lab::simulated {

/// The hooks of one life. The hooks are called on the world's agenda, each with the fate that the
/// world has chosen.
class SimulatedHooks final : public HookHost {
 public:
  struct Handlers {
    std::function<void(Event)> event;
    std::function<void(Hook, journal::Edge, std::optional<GroupNumber>, Ticket, const Members*)>
        edge;
    std::function<void(journal::PermitsEdge, GroupNumber)> permits;
    std::function<void(const std::string& why)> fatal;
    /// A hook failed, and only the application is at fault.
    std::function<void(std::string why)> failed_by_itself;
    std::function<HookFate(Hook)> fate;
    std::function<void(NodeId, Inquiry, Answered)> ask;
    std::function<void()> give_up_questions;
  };

  SimulatedHooks(std::shared_ptr<Process> process, Services& services, const MakeApplication& make,
                 LifePermits& permits, Handlers handlers)
      : process_(std::move(process)),
        services_(services),
        make_(make),
        permits_(permits),
        handlers_(std::move(handlers)) {}

  /// The life is over. Returns the application, which is destroyed when no call of it runs.
  std::unique_ptr<Application> abandon() { return std::move(application_); }

  [[nodiscard]] Application* application() const { return application_.get(); }

 private:
  void call(std::optional<Hook> hook, Call call, Ended on_ended) override;
  void tell(std::function<void()> work) override;
  void request_stop(std::stop_source cancel) override;
  void bound(Duration deadline, std::function<void()> overrun) override;
  void unbound() override { ++deadlines_; }
  [[nodiscard]] Duration left() const override { return due_ - process_->now(); }
  void grant(GroupNumber group) override { permits_.grant(group); }
  std::optional<GroupNumber> revoke(std::function<void()> returned) override;
  [[nodiscard]] PermitsOut permits_out() const override { return permits_.out(); }
  void event(Event event) override;
  void note(Hook hook, journal::Edge edge, std::optional<GroupNumber> group, Ticket ticket,
            const Members* members) override {
    handlers_.edge(hook, edge, group, ticket, members);
  }
  void note(journal::PermitsEdge edge, GroupNumber group) override {
    handlers_.permits(edge, group);
  }
  std::function<void(std::string)> new_listener() override { return {}; }
  std::function<void(std::function<void()>)> new_door() override;
  void ask(NodeId member, Inquiry inquiry, Ended answered) override;
  void give_up_questions() override { handlers_.give_up_questions(); }
  void fatal(HookFault fault, const std::string& why) override;

  /// The last call of a hook, with the troubles that are not the application's fault.
  struct Called {
    HookFate fate;
    bool overran = false;
    bool ended = false;
    bool unanswered = false;      ///< one of the hook's questions was not answered
    std::uint64_t questions = 0;  ///< its questions that are out
    [[nodiscard]] bool is_late() const { return fate.late > Duration::zero(); }
  };
  [[nodiscard]] bool failed_by_itself() const;
  void call_now(std::optional<Hook> hook, const Call& call, const Ended& give);

  std::shared_ptr<Process> process_;
  Services& services_;
  const MakeApplication& make_;
  LifePermits& permits_;
  Handlers handlers_;
  std::unique_ptr<Application> application_;
  std::shared_ptr<Called> called_ = std::make_shared<Called>();
  /// True if, since the deadline was set, the end of a hook was reported late because of a drawn
  /// delay.
  bool was_late_ = false;
  /// The number of disturbances of the process when the deadline was set.
  std::uint64_t disturbances_before_ = 0;
  std::uint64_t deadlines_ = 0;  ///< counts the deadlines, so that an old one is recognized
  Duration due_{};
};

}  // namespace muster::lab::simulated
