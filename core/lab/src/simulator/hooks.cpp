#include "hooks.hpp"

namespace muster::lab::simulated {

// Whenever the application says that it has ended, the end is looked at later, and not within what
// the application does.
void Hooks::call(std::optional<Hook> hook, Call call, Ended ended) {
  const HookFate fate = hook ? handlers_.fate(*hook) : HookFate{};
  // A Done may outlive its node.
  const Ended give = [weak = std::weak_ptr(process_), fate,
                      ended = std::move(ended)](Outcome outcome) {
    const auto process = weak.lock();
    if (!process || process->over()) return;
    if (fate.fails) outcome = Outcome(boost::system::in_place_error, *fate.fails);
    process->after(fate.late, [ended, outcome = std::move(outcome)] { ended(outcome); });
  };
  process_->after(
      fate.begins_after, [this, hook, call = std::move(call), called = fate.called, give] {
        if (!called) return give(Bytes{});
        const auto returned = std::make_shared<bool>(false);
        const auto early = std::make_shared<std::optional<Outcome>>();
        try {
          if (!application_) application_ = make_(services_);
          call(*application_, [give, returned, early](Outcome outcome) {
            if (*returned) return give(std::move(outcome));
            *early = std::move(outcome);
          });
        } catch (const std::exception& error) {
          *early = Outcome(boost::system::in_place_error, std::string("it threw: ") + error.what());
        }
        *returned = true;
        if (hook == Hook::start) permits_.announce();
        if (*early) give(**early);
      });
}

void Hooks::request_stop(std::stop_source cancel) {
  process_->soon([cancel = std::move(cancel)]() mutable { cancel.request_stop(); });
}

std::optional<GroupNumber> Hooks::revoke(std::function<void()> returned) {
  auto revoked = permits_.revoke([process = process_, returned = std::move(returned)] {
    process->soon([returned] { returned(); });
  });
  if (!revoked) return std::nullopt;
  if (revoked->stop) request_stop(*std::move(revoked->stop));
  return revoked->group;
}

std::function<void(std::function<void()>)> Hooks::new_door() {
  return [weak = std::weak_ptr(process_)](std::function<void()> work) {
    if (const auto process = weak.lock()) process->soon(std::move(work));
  };
}

void Hooks::bound(Duration deadline, std::function<void()> overrun) {
  due_ = process_->now() + deadline;
  process_->after(deadline, [this, number = ++deadlines_, overrun = std::move(overrun)] {
    if (deadlines_ == number) overrun();
  });
}

}  // namespace muster::lab::simulated
