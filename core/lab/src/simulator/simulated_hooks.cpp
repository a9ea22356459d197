#include "simulated_hooks.hpp"

namespace muster::lab::simulated {

// The end of a hook is processed later, and never inside the application's own call.
void SimulatedHooks::call(std::optional<Hook> hook, Call call, Ended on_ended) {
  const HookFate fate = hook ? handlers_.fate(*hook) : HookFate{};
  if (hook) {
    called_ = std::make_shared<Called>();
    called_->fate = fate;
    was_late_ = was_late_ || called_->is_late();
  }
  // A Done may outlive its node.
  const Ended give = [weak = std::weak_ptr(process_), fate, of = hook ? called_ : nullptr,
                      on_ended = std::move(on_ended)](Outcome outcome) {
    const auto process = weak.lock();
    if (!process || process->over()) return;
    if (fate.fails) outcome = Outcome(boost::system::in_place_error, *fate.fails);
    process->after(fate.late, [on_ended, of, outcome = std::move(outcome)] {
      if (of) of->ended = true;
      on_ended(outcome);
    });
  };
  process_->after(fate.begins_after,
                  [this, hook, call = std::move(call), called = fate.called, give] {
                    if (!called) return give(Bytes{});
                    if (const auto why = make_once(application_, make_, services_)) {
                      handlers_.failed_by_itself(*why);
                      return handlers_.fatal(*why);
                    }
                    call_now(hook, call, give);
                  });
}

// An answer that throws is reported here, since the asking node sees only a failed answer.
void SimulatedHooks::call_now(std::optional<Hook> hook, const Call& call, const Ended& give) {
  const auto returned = std::make_shared<bool>(false);
  const auto early = std::make_shared<std::optional<Outcome>>();
  const auto thrown = thrown_by([&] {
    call(*application_, [give, returned, early](Outcome outcome) {
      if (*returned) return give(std::move(outcome));
      *early = std::move(outcome);
    });
  });
  if (thrown) {
    *early = Outcome(boost::system::in_place_error, "it threw" + *thrown);
    if (!hook) handlers_.failed_by_itself("answer failed: " + early->value().error());
  }
  *returned = true;
  if (hook == Hook::start) permits_.announce();
  if (*early) give(**early);
}

void SimulatedHooks::tell(std::function<void()> work) {
  process_->soon([this, work = std::move(work)] {
    call_user(work, [this](const std::string& why) {
      handlers_.failed_by_itself(why);
      handlers_.fatal(why);
    });
  });
}

// --- Failures that are the application's fault

bool SimulatedHooks::failed_by_itself() const {
  const Called& last = *called_;
  if (last.fate.fails || !last.fate.called || last.unanswered || last.questions > 0) return false;
  return !last.overran || (!was_late_ && disturbances_before_ == process_->disturbances());
}

void SimulatedHooks::event(Event event) {
  const auto* failed = std::get_if<HookFailed>(&event);
  if (failed && failed_by_itself())
    handlers_.failed_by_itself(std::string(enumerator_name(failed->hook)) +
                               " failed: " + failed->why);
  handlers_.event(std::move(event));
}

void SimulatedHooks::fatal(HookFault /*unused*/, const std::string& why) {
  if (failed_by_itself()) handlers_.failed_by_itself(why);
  handlers_.fatal(why);
}

void SimulatedHooks::ask(NodeId member, Inquiry inquiry, Ended answered) {
  ++called_->questions;
  handlers_.ask(member, std::move(inquiry),
                [called = called_, answered = std::move(answered)](Outcome outcome) {
                  --called->questions;
                  if (!outcome) called->unanswered = true;
                  answered(std::move(outcome));
                });
}

void SimulatedHooks::request_stop(std::stop_source cancel) {
  process_->soon([cancel = std::move(cancel)]() mutable { cancel.request_stop(); });
}

std::optional<GroupNumber> SimulatedHooks::revoke(std::function<void()> returned) {
  auto revoked = permits_.revoke([process = process_, returned = std::move(returned)] {
    process->soon([returned] { returned(); });
  });
  if (!revoked) return std::nullopt;
  if (revoked->stop) request_stop(*std::move(revoked->stop));
  return revoked->group;
}

std::function<void(std::function<void()>)> SimulatedHooks::new_door() {
  return [weak = std::weak_ptr(process_)](std::function<void()> work) {
    if (const auto process = weak.lock()) process->soon(std::move(work));
  };
}

void SimulatedHooks::bound(Duration deadline, std::function<void()> overrun) {
  due_ = process_->now() + deadline;
  if (!called_->overran) {
    was_late_ = !called_->ended && called_->is_late();
    disturbances_before_ = process_->disturbances();
  }
  process_->after(deadline, [this, number = ++deadlines_, overrun = std::move(overrun)] {
    if (deadlines_ != number) return;
    called_->overran = true;
    overrun();
  });
}

}  // namespace muster::lab::simulated
