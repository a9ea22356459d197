#include "hooks.hpp"

namespace muster::lab::simulated {

namespace {

// As muster::net has them by default.
constexpr std::size_t report_limit = 32 * 1024;
constexpr std::size_t definition_limit = 32 * 1024;

}  // namespace

std::unique_ptr<Application> Hooks::abandon() {
  permits_.revoke([] {});
  ++deadlines_;
  running_.reset();
  return std::move(application_);
}

// --- The three actions

// Permits are revoked before anything else, and all of it has one deadline.
void Hooks::perform(const Stop& action) {
  stopping_ = Stopping{action.ticket, action.cause, action.owed, false, false, std::nullopt};
  const auto revoked = permits_.revoke([this, process = process_] {
    process->soon([this] {
      if (!stopping_) return;
      stopping_->returned = true;
      if (group_) handlers_.permits(journal::PermitsEdge::returned, *group_);
      stopped_when_all_done();
    });
  });
  if (revoked)
    handlers_.permits(journal::PermitsEdge::revoked, *revoked);
  else
    stopping_->returned = true;
  bound(timings_.stop_deadline, [this] {
    const std::string who = running_ && running_->hook != Hook::stop ? "a cancelled hook"
                            : stopping_->returned                    ? "stop"
                                                                     : "a permit";
    handlers_.fatal(who + " overran stop_deadline");
  });
  if (running_)
    cancel_running();
  else
    go_on_stopping();
}

void Hooks::perform(const Reorganize& action) {
  bound(timings_.reorganize_deadline, [this] { cancel_running(); });
  run<Definition>(Hook::reorganize, action.ticket, action.group, &action.members,
                  [group = action.group, members = action.members](
                      Application& application, std::stop_token cancelled, Done<Definition> done) {
                    application.reorganize({group, members, std::move(cancelled)}, std::move(done));
                  });
}

void Hooks::perform(const Start& action) {
  group_ = action.group;
  permits_.grant(action.group);
  bound(timings_.start_deadline, [this] { cancel_running(); });
  run<std::monostate>(
      Hook::start, action.ticket, action.group, nullptr,
      [group = action.group, definition = action.definition](
          Application& application, std::stop_token cancelled, Done<> done) {
        application.start({group, definition, std::move(cancelled)}, std::move(done));
      });
}

// --- Stopping

void Hooks::go_on_stopping() {
  if (!stopping_->owed) {
    stopping_->ceased = true;
    return stopped_when_all_done();
  }
  run<Report>(Hook::stop, stopping_->ticket, group_, nullptr,
              [context = StopContext{stopping_->cause, group_}](
                  Application& application, const std::stop_token&, Done<Report> done) {
                application.stop(context, std::move(done));
              });
}

void Hooks::stopped_when_all_done() {
  if (!stopping_->ceased || !stopping_->returned) return;
  ++deadlines_;
  const Stopping stopped = *std::exchange(stopping_, std::nullopt);
  if (stopped.owed) handlers_.edge(Hook::stop, journal::Edge::end, group_, stopped.ticket, nullptr);
  handlers_.event(Stopped{stopped.ticket, stopped.report});
}

// --- Calling a hook, and its end

// Whenever the application says that it has ended, the end is looked at later, and not within what
// the application does.
template <class Value>
Done<Value> Hooks::done(Hook hook, Ticket ticket) {
  return Done<Value>(
      [this, weak = std::weak_ptr(process_), hook, ticket](typename Done<Value>::Outcome outcome) {
        const auto process = weak.lock();  // a Done may outlive its node
        if (!process || process->over()) return;
        const Duration late =
            running_ && running_->ticket == ticket ? running_->late : Duration::zero();
        process->after(late, [this, hook, ticket, outcome = std::move(outcome)] {
          ended<Value>(hook, ticket, outcome);
        });
      });
}

template <class Value, class Call>
void Hooks::run(Hook hook, Ticket ticket, std::optional<GroupNumber> group, const Members* members,
                Call call) {
  HookFate fate = handlers_.fate(hook);
  running_ = Running{hook, ticket, group, {}, false, std::move(fate.fails), fate.late};
  handlers_.edge(hook, journal::Edge::begin, group, ticket, members);
  process_->after(
      fate.begins_after, [this, hook, ticket, call = std::move(call), called = fate.called,
                          cancelled = running_->cancel.get_token()] {
        auto handle = std::make_shared<Done<Value>>(done<Value>(hook, ticket));
        if (!called) return (*handle)(Value{});
        using Outcome = typename Done<Value>::Outcome;
        // An exception that drops the Done on its way out is reported as that exception.
        try {
          if (!application_) application_ = make_(services_);
          call(*application_, cancelled, Done<Value>([handle](Outcome outcome) {
            if (outcome)
              (*handle)(std::move(*outcome));
            else
              handle->fail(outcome.error());
          }));
        } catch (const std::exception& error) {
          ended<Value>(
              hook, ticket,
              Outcome(boost::system::in_place_error, std::string("it threw: ") + error.what()));
        }
      });
}

template <class Value>
void Hooks::ended(Hook hook, Ticket ticket, boost::system::result<Value, std::string> outcome) {
  if (!running_ || running_->hook != hook || running_->ticket != ticket) return;
  const Running ran = *std::exchange(running_, std::nullopt);
  if (!stopping_) ++deadlines_;
  if (ran.overran)
    ended_badly(ran, std::string("it overran its deadline"));
  else if (ran.fails)
    ended_badly(ran, *ran.fails);
  else if (outcome)
    ended_well(ran, std::move(*outcome));
  else
    ended_badly(ran, outcome.error());
}

void Hooks::ended_well(const Running& ran, Bytes value) {
  const bool stop = ran.hook == Hook::stop;
  if (value.data.size() > (stop ? report_limit : definition_limit))
    return ended_badly(ran, stop ? "its report is too large" : "its definition is too large");
  if (stop) {
    stopping_->report = std::move(value);
    stopping_->ceased = true;
    return stopped_when_all_done();
  }
  handlers_.edge(ran.hook, journal::Edge::end, ran.group, ran.ticket, nullptr);
  if (stopping_) return go_on_stopping();
  handlers_.event(Reorganized{ran.ticket, std::move(value)});
}

void Hooks::ended_well(const Running& ran, std::monostate) {
  handlers_.edge(ran.hook, journal::Edge::end, ran.group, ran.ticket, nullptr);
  if (stopping_) return go_on_stopping();
  handlers_.event(Started{ran.ticket});
}

void Hooks::ended_badly(const Running& ran, const std::string& why) {
  handlers_.edge(ran.hook, journal::Edge::failed, ran.group, ran.ticket, nullptr);
  if (ran.hook == Hook::stop) return handlers_.fatal("stop failed: " + why);
  if (stopping_) return go_on_stopping();
  handlers_.event(HookFailed{ran.ticket, ran.hook, why});
}

// --- Deadlines

void Hooks::bound(Duration deadline, std::function<void()> overrun) {
  process_->after(deadline, [this, number = ++deadlines_, overrun = std::move(overrun)] {
    if (deadlines_ == number) overrun();
  });
}

// Asks the hook to end early. One that overran its own deadline has one stop deadline left to end.
void Hooks::cancel_running() {
  process_->soon([cancel = running_->cancel]() mutable { cancel.request_stop(); });
  if (stopping_) return;
  running_->overran = true;
  bound(timings_.stop_deadline,
        [this] { handlers_.fatal("a hook did not end within stop_deadline after its deadline"); });
}

}  // namespace muster::lab::simulated
