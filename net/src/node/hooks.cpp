#include "node/hooks.hpp"

#include <muster/host/user_call.hpp>

#include <boost/asio/post.hpp>

#include <exception>
#include <thread>

namespace muster::net {

namespace {

namespace asio = boost::asio;

/// Holds back the result of a hook that ends while it is still being called, until the call has
/// returned.
class Returning {
 public:
  explicit Returning(HookHost::Ended give) : give_(std::move(give)) {}

  void on_hook_ended(HookHost::Outcome outcome) {
    {
      const std::lock_guard lock(mutex_);
      if (called_) {
        early_ = std::move(outcome);
        return;
      }
    }
    give_(std::move(outcome));
  }

  void returned(const std::optional<std::string>& thrown) {
    std::optional<HookHost::Outcome> early;
    {
      const std::lock_guard lock(mutex_);
      called_ = false;
      early = std::move(early_);
    }
    if (thrown)
      give_({boost::system::in_place_error, *thrown});
    else if (early)
      give_(std::move(*early));
  }

 private:
  HookHost::Ended give_;
  std::mutex mutex_;
  bool called_ = true;
  std::optional<HookHost::Outcome> early_;
};

void make_call(const HookHost::Call& call, Application& application, HookHost::Ended give) {
  const auto returning = std::make_shared<Returning>(std::move(give));
  std::optional<std::string> thrown;
  const auto why = thrown_by([&] {
    call(application,
         [returning](HookHost::Outcome outcome) { returning->on_hook_ended(std::move(outcome)); });
  });
  if (why) thrown = "it threw" + *why;
  returning->returned(thrown);
}

}  // namespace

Hooks::Hooks(asio::any_io_executor strand, asio::any_io_executor executor,
             std::shared_ptr<Services> services, MakeApplication make_application,
             std::shared_ptr<LifePermits> permits, Handlers handlers)
    : strand_(std::move(strand)),
      way_(std::make_shared<Way>(strand_)),
      executor_(std::move(executor)),
      user_(std::make_shared<User>(std::move(services), std::move(make_application))),
      permits_(std::move(permits)),
      handlers_(std::move(handlers)),
      deadline_(strand_) {}

void Hooks::abandon() {
  abandoned_ = true;
  way_->close();
  deadline_.cancel();
  waiting_.clear();
  asio::post(executor_, [user = std::move(user_)] { user->application.reset(); });
}

void Hooks::call(std::optional<Hook> hook, Call call, Ended on_ended) {
  // The user can keep a Done longer than the node and its context exist.
  const auto give = [way = way_, weak = weak_from_this(),
                     on_ended = std::move(on_ended)](Outcome outcome) {
    way->post([weak, on_ended, outcome = std::move(outcome)]() mutable {
      const auto self = weak.lock();
      if (self && !self->abandoned_) on_ended(std::move(outcome));
    });
  };
  // If the application cannot be made, the process has to end: no report of the node's state could
  // be made, and another life would fail for the same reason.
  waiting_.push_back([user = user_, call = std::move(call), give, failed = fatal_later()] {
    if (const auto why = make_once(user->application, user->make, *user->services))
      return failed(*why);
    make_call(call, *user->application, give);
  });
  // The call is posted behind the letters of the present step: waking another thread takes as long
  // as sending a letter.
  asio::post(strand_, [weak = weak_from_this(), hook] {
    const auto self = weak.lock();
    if (self && !self->abandoned_) self->call_next(hook);
  });
}

// Returns a function that reports a failure to the strand. The user's executor calls it when a
// failure is noticed there.
std::function<void(const std::string&)> Hooks::fatal_later() {
  return [way = way_, weak = weak_from_this()](const std::string& why) {
    way->post([weak, why] {
      const auto self = weak.lock();
      if (self && !self->abandoned_) self->fatal(HookFault::failed, why);
    });
  };
}

void Hooks::call_next(std::optional<Hook> hook) {
  asio::post(executor_, std::move(waiting_.front()));
  waiting_.pop_front();
  if (hook != Hook::start) return;
  // Posted behind the call of `start`. So if `start` is a coroutine, its beginning runs before code
  // that waits for a permit.
  asio::post(executor_, [weak = std::weak_ptr(permits_), grant = permits_->grants()] {
    if (const auto permits = weak.lock()) permits->announce(grant);
  });
}

void Hooks::tell(std::function<void()> work) {
  asio::post(executor_, [user = user_, work = std::move(work), thrown = fatal_later()] {
    call_user(work, thrown);
  });
}

std::function<void(std::function<void()>)> Hooks::new_door() {
  return [way = way_, weak = weak_from_this()](std::function<void()> work) {
    way->post([weak, work = std::move(work)] {
      const auto self = weak.lock();
      if (self && !self->abandoned_) work();
    });
  };
}

// Callbacks on the token of a hook or of a permit are the user's code. They run on a thread of
// their own, never on the strand.
void Hooks::request_stop(std::stop_source cancel) {
  std::thread([cancel = std::move(cancel)]() mutable { cancel.request_stop(); }).detach();
}

// --- Deadlines

void Hooks::bound(Duration deadline, std::function<void()> overrun) {
  deadline_.after(deadline, std::move(overrun));
}

void Hooks::unbound() {
  deadline_.cancel();
}

Duration Hooks::left() const {
  return deadline_.left();
}

// --- Permits and progress

// The user can keep a permit longer than the node and its context exist, and can return it on any
// thread.
std::optional<GroupNumber> Hooks::revoke(std::function<void()> returned) {
  auto revoked =
      permits_->revoke([way = way_, weak = weak_from_this(), returned = std::move(returned)] {
        way->post([weak, returned] {
          const auto self = weak.lock();
          if (self && !self->abandoned_) returned();
        });
      });
  if (!revoked) return std::nullopt;
  if (revoked->stop) request_stop(*std::move(revoked->stop));
  return revoked->group;
}

std::function<void(std::string)> Hooks::new_listener() {
  how_far_ = std::make_shared<HowFar>();
  return [how_far = how_far_](std::string text) {
    constexpr std::size_t most_shown = 1024;  // in bytes; the text is part of the status
    if (text.size() > most_shown) text.resize(most_shown);
    const std::lock_guard lock(how_far->mutex);
    how_far->text = std::move(text);
  };
}

std::string Hooks::how_far() const {
  if (!how_far_) return {};
  const std::lock_guard lock(how_far_->mutex);
  return how_far_->text;
}

}  // namespace muster::net
