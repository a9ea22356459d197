#include <muster/permits.hpp>

#include <stdexcept>

namespace muster {

Permit Permits::Host::wait(std::string_view, const std::stop_token&) {
  throw std::logic_error(
      "acquire().wait() where the application's executor is the only thread would wait for ever; "
      "use acquire().then(...), co_await acquire() or try_acquire()");
}

// The permit may be revoked before the executor comes to it. If the permit was revoked, the request
// waits for the permits of the next group.
void Acquisition::then(std::function<void(Permit)> given) const {
  host_->when_given([acquisition = *this, given = std::move(given)](bool there) {
    if (!there) return;
    acquisition.host_->post([acquisition, given] {
      if (std::optional<Permit> permit = acquisition.host_->try_acquire(acquisition.name_))
        given(*std::move(permit));
      else
        acquisition.then(given);
    });
  });
}

Permit Acquisition::wait(const std::stop_token& cancelled) const {
  return host_->wait(name_, cancelled);
}

}  // namespace muster
