#include "hooks.hpp"

#include <boost/asio/post.hpp>

#include <thread>

namespace muster::net {

namespace asio = boost::asio;

Hooks::Hooks(asio::any_io_executor strand, asio::any_io_executor executor,
             std::shared_ptr<Services> services, MakeApplication make_application,
             std::shared_ptr<Permits> permits, HookRunner::Limits limits,
             const std::optional<Assigned>& assigned, Handlers handlers)
    : strand_(std::move(strand)),
      executor_(std::move(executor)),
      user_(std::make_shared<User>(std::move(services), std::move(make_application))),
      permits_(std::move(permits)),
      handlers_(std::move(handlers)),
      deadline_(strand_),
      runner_(*this, user_->services->self(), limits, assigned) {}

void Hooks::abandon() {
  abandoned_ = true;
  runner_.abandon();
  asio::post(executor_, [user = std::move(user_)] { user->application.reset(); });
}

void Hooks::call(Hook, Call call, Ended ended) {
  // A Done may outlive its node.
  const auto give = [weak = weak_from_this(), strand = strand_,
                     ended = std::move(ended)](Outcome outcome) {
    asio::post(strand, [weak, ended, outcome = std::move(outcome)]() mutable {
      const auto self = weak.lock();
      if (self && !self->abandoned_) ended(std::move(outcome));
    });
  };
  asio::post(executor_, [user = user_, call = std::move(call), give] {
    const auto application = [user]() -> Application& {
      if (!user->application) user->application = user->make(*user->services);
      return *user->application;
    };
    make_call(call, application, give);
  });
}

// Callbacks on a hook's token are the user's code and run on a thread of their own, never on the
// strand.
void Hooks::request_stop(std::stop_source cancel) {
  std::thread([cancel = std::move(cancel)]() mutable { cancel.request_stop(); }).detach();
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

Duration Hooks::left() const {
  return deadline_.expiry() - std::chrono::steady_clock::now();
}

// --- Permits and progress
// ---------------------------------------------------------------------------

// A permit may outlive its node, and be returned on any thread.
std::optional<GroupNumber> Hooks::revoke(std::function<void()> returned) {
  return permits_->revoke(
      [weak = weak_from_this(), strand = strand_, returned = std::move(returned)] {
        asio::post(strand, [weak, returned] {
          const auto self = weak.lock();
          if (self && !self->abandoned_) returned();
        });
      });
}

void Hooks::progress(std::string how_far) {
  const std::lock_guard lock(how_far_mutex_);
  how_far_ = std::move(how_far);
}

std::string Hooks::how_far() const {
  const std::lock_guard lock(how_far_mutex_);
  return how_far_;
}

}  // namespace muster::net
