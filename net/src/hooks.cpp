#include "hooks.hpp"

#include <boost/asio/post.hpp>

#include <mutex>
#include <thread>

namespace muster::net {

namespace {

namespace asio = boost::asio;

std::string in_words(Duration duration) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

std::string too_large(std::string_view what, std::size_t size, std::size_t limit) {
  return "its " + std::string(what) + " of " + std::to_string(size) +
         " bytes is larger than the limit of " + std::to_string(limit);
}

// Callbacks on a hook's token are the user's code and run on a thread of their own, never on the
// strand.
void request_stop(std::stop_source cancel) {
  std::thread([cancel = std::move(cancel)]() mutable { cancel.request_stop(); }).detach();
}

/// What a hook gives back while it is still being called waits until the call has returned: an
/// exception that drops the Done on its way out is reported as that exception.
template <class Outcome>
struct Returning {
  std::mutex mutex;
  bool called = true;
  std::optional<Outcome> early;
};

}  // namespace

Hooks::Hooks(asio::any_io_executor strand, asio::any_io_executor executor,
             std::shared_ptr<Services> services, MakeApplication make_application,
             std::shared_ptr<Permits> permits, Limits limits, Handlers handlers)
    : strand_(std::move(strand)),
      executor_(std::move(executor)),
      user_(std::make_shared<User>(std::move(services), std::move(make_application))),
      permits_(std::move(permits)),
      limits_(limits),
      handlers_(std::move(handlers)),
      deadline_(strand_) {}

void Hooks::abandon() {
  abandoned_ = true;
  permits_->revoke([] {});
  if (running_) request_stop(running_->cancel);
  unbound();
  asio::post(executor_, [user = std::move(user_)] { user->application.reset(); });
}

// --- The three actions
// ------------------------------------------------------------------------------

// Permits are revoked before anything else, and all of it has one deadline.
void Hooks::perform(const Stop& action) {
  stopping_ = Stopping{action.ticket, action.cause, action.owed, false, false, std::nullopt};
  const auto revoked = permits_->revoke([weak = weak_from_this()] {
    const auto there = weak.lock();  // a permit may outlive its node
    if (!there) return;
    asio::post(there->strand_, [weak] {
      const auto self = weak.lock();
      if (!self || self->abandoned_ || !self->stopping_) return;
      self->stopping_->returned = true;
      if (self->group_) self->handlers_.permits(journal::PermitsEdge::returned, *self->group_);
      self->stopped_when_all_done();
    });
  });
  if (revoked)
    handlers_.permits(journal::PermitsEdge::revoked, *revoked);
  else
    stopping_->returned = true;
  bound(limits_.timings.stop_deadline, [this] {
    const std::string who = running_ && running_->hook != Hook::stop ? "a cancelled hook"
                            : stopping_->returned                    ? "stop"
                                                                     : "a permit";
    handlers_.fatal(who + " overran stop_deadline = " + in_words(limits_.timings.stop_deadline));
  });
  if (running_)
    cancel_running();
  else
    go_on_stopping();
}

void Hooks::perform(const Reorganize& action) {
  bound(limits_.timings.reorganize_deadline, [this] { cancel_running(); });
  run<Definition>(Hook::reorganize, action.ticket, action.group, &action.members,
                  [group = action.group, members = action.members](
                      Application& application, std::stop_token cancelled, Done<Definition> done) {
                    application.reorganize({group, members, cancelled}, std::move(done));
                  });
}

void Hooks::perform(const Start& action) {
  group_ = action.group;
  permits_->grant(action.group);
  bound(limits_.timings.start_deadline, [this] { cancel_running(); });
  run<std::monostate>(Hook::start, action.ticket, action.group, nullptr,
                      [group = action.group, definition = action.definition](
                          Application& application, std::stop_token cancelled, Done<> done) {
                        application.start({group, definition, cancelled}, std::move(done));
                      });
}

// --- Stopping
// ---------------------------------------------------------------------------------------

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
  unbound();
  const Stopping stopped = *std::exchange(stopping_, std::nullopt);
  if (stopped.owed) handlers_.edge(Hook::stop, journal::Edge::end, group_, stopped.ticket, nullptr);
  handlers_.event(Stopped{stopped.ticket, stopped.report});
}

// --- Calling a hook, and its end
// --------------------------------------------------------------------

template <class Value>
Done<Value> Hooks::done(Hook hook, Ticket ticket) {
  return Done<Value>(
      [weak = weak_from_this(), hook, ticket](typename Done<Value>::Outcome outcome) {
        const auto there = weak.lock();  // a Done may outlive its node
        if (!there) return;
        asio::post(there->strand_, [weak, hook, ticket, outcome = std::move(outcome)]() mutable {
          if (const auto self = weak.lock()) self->ended<Value>(hook, ticket, std::move(outcome));
        });
      });
}

template <class Value, class Call>
void Hooks::run(Hook hook, Ticket ticket, std::optional<GroupNumber> group, const Members* members,
                Call call) {
  running_ = Running{hook, ticket, group, {}, false};
  handlers_.edge(hook, journal::Edge::begin, group, ticket, members);
  auto work = [user = user_, call = std::move(call), done = done<Value>(hook, ticket),
               cancelled = running_->cancel.get_token()]() mutable {
    using Outcome = typename Done<Value>::Outcome;
    const auto returning = std::make_shared<Returning<Outcome>>();
    const auto real = std::make_shared<Done<Value>>(std::move(done));
    const auto give = [real](Outcome outcome) {
      if (outcome)
        (*real)(std::move(*outcome));
      else
        real->fail(outcome.error());
    };
    Done<Value> guarded([returning, give](Outcome outcome) {
      {
        const std::lock_guard lock(returning->mutex);
        if (returning->called) {
          returning->early = std::move(outcome);
          return;
        }
      }
      give(std::move(outcome));
    });
    std::optional<std::string> thrown;
    try {
      if (!user->application) user->application = user->make(*user->services);
      call(*user->application, cancelled, std::move(guarded));
    } catch (const std::exception& error) {
      thrown = std::string("it threw: ") + error.what();
    } catch (...) {
      thrown = "it threw something that is no std::exception";
    }
    std::optional<Outcome> early;
    {
      const std::lock_guard lock(returning->mutex);
      returning->called = false;
      early = std::move(returning->early);
    }
    if (thrown)
      give(Outcome(boost::system::in_place_error, *thrown));
    else if (early)
      give(std::move(*early));
  };
  asio::post(executor_, [work = std::make_shared<decltype(work)>(std::move(work))] { (*work)(); });
}

template <class Value>
void Hooks::ended(Hook hook, Ticket ticket, boost::system::result<Value, std::string> outcome) {
  if (abandoned_ || !running_ || running_->hook != hook || running_->ticket != ticket) return;
  const Running ran = *std::exchange(running_, std::nullopt);
  if (!stopping_) unbound();
  if (ran.overran) {
    const Timings& timings = limits_.timings;
    ended_badly(ran,
                hook == Hook::start
                    ? "it overran start_deadline = " + in_words(timings.start_deadline)
                    : "it overran reorganize_deadline = " + in_words(timings.reorganize_deadline));
  } else if (outcome) {
    ended_well(ran, std::move(*outcome));
  } else {
    ended_badly(ran, outcome.error());
  }
}

void Hooks::ended_well(const Running& ran, Report value) {
  const bool stop = ran.hook == Hook::stop;
  const std::size_t limit = stop ? limits_.report : limits_.definition;
  if (value.data.size() > limit)
    return ended_badly(ran, too_large(stop ? "report" : "definition", value.data.size(), limit));
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
// --------------------------------------------------------------------------------------

void Hooks::bound(Duration deadline, std::function<void()> overrun) {
  deadline_.expires_after(deadline);
  deadline_.async_wait(
      [weak = weak_from_this(), number = ++deadlines_, overrun = std::move(overrun)](auto error) {
        const auto self = weak.lock();
        if (!error && self && !self->abandoned_ && self->deadlines_ == number) overrun();
      });
}

void Hooks::unbound() {
  ++deadlines_;
  deadline_.cancel();
}

// Asks the hook to end early. One that overran its own deadline has one stop deadline left to end.
void Hooks::cancel_running() {
  request_stop(running_->cancel);
  if (stopping_) return;
  running_->overran = true;
  bound(limits_.timings.stop_deadline, [this] {
    handlers_.fatal("a hook did not end within stop_deadline = " +
                    in_words(limits_.timings.stop_deadline) + " after it was cancelled");
  });
}

}  // namespace muster::net
