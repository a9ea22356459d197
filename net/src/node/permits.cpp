#include "node/permits.hpp"

#include <muster/host/user_call.hpp>

#include "base/clock.hpp"

#include <muster/values/ensure.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/system_error.hpp>

#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace muster::net {

namespace asio = boost::asio;

namespace {

constexpr std::size_t stripe_count = 16;

/// Spreads the threads evenly over the stripes, so that few of them use the same lock.
std::size_t own_stripe() {
  static std::atomic<std::size_t> threads = 0;
  thread_local const std::size_t own = threads++ % stripe_count;
  return own;
}

}  // namespace

/// The state that permits share with the door, for many threads at once.
///
/// A revocation must miss no permit that was given, and no permit may be given after it. Two rules
/// ensure this. A thread that takes a permit reads `granted_` under the lock of its stripe, under
/// which the permit is also counted. A revocation clears `granted_` first and then locks each
/// stripe to count. So a permit was counted before the revocation looked at its stripe, or it finds
/// `granted_` cleared.
class LifePermits::State final : public Permits::Host, public std::enable_shared_from_this<State> {
 public:
  State(Duration longest_gap, asio::any_io_executor executor,
        std::function<void(const std::string&)> thrown)
      : longest_gap_(longest_gap), thrown_(std::move(thrown)), executor_(std::move(executor)) {}

  void turned(Duration boottime, std::optional<Moment> right) {
    last_turn_.store(boottime.count());
    right_.store(right.value_or(Moment::max()).count());
    if (waiting_ > 0) tell_waiting();
  }
  void grant(GroupNumber group);
  [[nodiscard]] std::uint64_t grants() const { return grants_; }
  void announce(std::uint64_t grant) {
    announced_ = grant;
    tell_waiting();
  }
  std::optional<Revoked> revoke(std::function<void()> returned);
  [[nodiscard]] std::optional<std::uint64_t> present_grant() const {
    const std::uint64_t grant = grants_;
    return granted_.load() && grants_ == grant ? std::optional(grant) : std::nullopt;
  }
  [[nodiscard]] bool may_work() const {
    const Duration now = boottime_now();
    return granted_.load() && now - Duration(last_turn_.load()) <= longest_gap_ &&
           now < Moment(right_.load());
  }
  PermitsOut out() const;
  void close();

  std::optional<Permit> try_acquire(std::string_view name) override;
  std::uint64_t when_given(std::function<void(bool)> told) override;
  void forget(std::uint64_t number) override;
  void post(std::function<void()> work) override;
  Permit wait(std::string_view name, const std::stop_token& cancelled) override;

 private:
  struct Stripe;
  /// A permit that is given out, or can be given out again.
  struct Slot final : Permit::Grant {
    Slot(State& owner, Stripe& place) : state(owner), stripe(place) {}
    bool valid() const override { return state.may_work(); }
    std::stop_token stop_token() const override { return state.stop_token(); }
    void give_back() override { state.give_back(*this); }

    State& state;
    Stripe& stripe;
    std::string name;
    bool out = false;
    Slot* next_free = nullptr;
  };
  struct alignas(64) Stripe {
    std::mutex mutex;  // guards everything below
    std::size_t out = 0;
    bool awaited = false;  ///< a revocation waits for the stripe's last permit
    Slot* free = nullptr;
    std::vector<std::unique_ptr<Slot>> slots;
  };

  /// True if a waiting thread can go on: there is a permit, or the life is over.
  [[nodiscard]] bool there_or_over() const { return over_ || (is_announced() && may_work()); }
  [[nodiscard]] bool is_announced() const { return announced_ == grants_; }
  Slot& take(Stripe& stripe, std::string_view name);
  void give_back(Slot& slot);
  void stripe_is_back();
  std::stop_token stop_token();
  void tell_waiting();

  const Duration longest_gap_;
  std::atomic<bool> granted_ = false;
  std::atomic<std::uint64_t> grants_ = 0;
  std::atomic<std::int64_t> last_turn_ = boottime_now().count();
  std::atomic<std::int64_t> right_ = Moment::max().count();  ///< the end of the right to work
  GroupNumber group_;                                        // changes only while no permit is out
  mutable std::array<Stripe, stripe_count> stripes_;

  std::atomic<std::size_t> stripes_out_ = 0;
  std::function<void()> returned_;
  std::shared_ptr<State> while_out_;       ///< owns this object while permits can be out
  std::atomic<bool> all_are_back_ = true;  ///< since the last revocation

  std::mutex stop_mutex_;  // guards stop_
  std::optional<std::stop_source> stop_;

  std::mutex waiting_mutex_;  // guards the members below; stripes may be locked meanwhile
  std::condition_variable_any more_;
  std::map<std::uint64_t, std::function<void(bool)>> told_;
  std::uint64_t last_number_ = 0;
  const std::function<void(const std::string&)> thrown_;
  // Empty after the end of the life, because the executor's context may be destroyed then.
  asio::any_io_executor executor_;
  std::atomic<std::uint64_t> announced_ = 0;  ///< the grant whose `start` was called last
  std::atomic<bool> over_ = false;
  std::atomic<std::size_t> waiting_ = 0;
};

// --- Giving and returning

std::optional<Permit> LifePermits::State::try_acquire(std::string_view name) {
  if (!may_work()) return std::nullopt;
  Stripe& stripe = stripes_[own_stripe()];
  Slot* slot = nullptr;
  {
    const std::lock_guard lock(stripe.mutex);
    if (!granted_.load()) return std::nullopt;
    slot = &take(stripe, name);
  }
  return Permit(group_, *slot);
}

LifePermits::State::Slot& LifePermits::State::take(Stripe& stripe, std::string_view name) {
  if (!stripe.free) {
    stripe.slots.push_back(std::make_unique<Slot>(*this, stripe));
    stripe.free = stripe.slots.back().get();
  }
  Slot& slot = *stripe.free;
  slot.name = name;
  stripe.free = std::exchange(slot.next_free, nullptr);
  slot.out = true;
  ++stripe.out;
  return slot;
}

void LifePermits::State::give_back(Slot& slot) {
  Stripe& stripe = slot.stripe;
  bool last = false;
  {
    const std::lock_guard lock(stripe.mutex);
    slot.out = false;
    slot.next_free = std::exchange(stripe.free, &slot);
    --stripe.out;
    last = stripe.out == 0 && std::exchange(stripe.awaited, false);
  }
  if (last) stripe_is_back();
}

void LifePermits::State::grant(GroupNumber group) {
  MUSTER_ENSURE(all_are_back_.exchange(false));
  group_ = group;
  while_out_ = shared_from_this();
  ++grants_;
  granted_ = true;
}

std::optional<LifePermits::Revoked> LifePermits::State::revoke(std::function<void()> returned) {
  if (!granted_.exchange(false)) return std::nullopt;
  Revoked revoked{group_, std::nullopt};
  {
    const std::lock_guard lock(stop_mutex_);
    stop_.swap(revoked.stop);
  }
  returned_ = std::move(returned);
  stripes_out_ = stripe_count;
  for (Stripe& stripe : stripes_) {
    bool back = false;
    {
      const std::lock_guard lock(stripe.mutex);
      back = stripe.out == 0;
      stripe.awaited = !back;
    }
    if (back) stripe_is_back();
  }
  return revoked;
}

// The last permit may be the only owner of this object.
void LifePermits::State::stripe_is_back() {
  if (--stripes_out_ > 0) return;
  const auto kept = std::exchange(while_out_, nullptr);
  const auto tell = std::exchange(returned_, nullptr);
  all_are_back_ = true;
  if (tell) tell();
}

PermitsOut LifePermits::State::out() const {
  PermitsOut out;
  for (Stripe& stripe : stripes_) {
    const std::lock_guard lock(stripe.mutex);
    for (const auto& slot : stripe.slots)
      if (slot->out) ++out[slot->name];
  }
  return out;
}

std::stop_token LifePermits::State::stop_token() {
  const std::lock_guard lock(stop_mutex_);
  if (!granted_) {
    std::stop_source late;
    late.request_stop();
    return late.get_token();
  }
  if (!stop_) stop_.emplace();
  return stop_->get_token();
}

// --- Waiting

// A thread checks `there_or_over` under this lock before it waits. So no thread waits for a permit
// that is already there.
void LifePermits::State::tell_waiting() {
  std::map<std::uint64_t, std::function<void(bool)>> told;
  {
    const std::lock_guard lock(waiting_mutex_);
    if (!there_or_over()) return;
    told.swap(told_);
    waiting_ -= told.size();
    more_.notify_all();
  }
  for (const auto& [number, tell] : told) tell(!over_);
}

void LifePermits::State::close() {
  asio::any_io_executor dropped;
  {
    const std::lock_guard lock(waiting_mutex_);
    over_ = true;
    std::swap(dropped, executor_);
  }
  tell_waiting();
}

std::uint64_t LifePermits::State::when_given(std::function<void(bool)> told) {
  {
    const std::lock_guard lock(waiting_mutex_);
    ++waiting_;
    if (!there_or_over()) {
      told_.emplace(++last_number_, std::move(told));
      return last_number_;
    }
    --waiting_;
  }
  told(!over_);
  return 0;
}

void LifePermits::State::forget(std::uint64_t number) {
  const std::lock_guard lock(waiting_mutex_);
  waiting_ -= told_.erase(number);
}

void LifePermits::State::post(std::function<void()> work) {
  const std::lock_guard lock(waiting_mutex_);
  if (over_) return;
  asio::post(executor_, [weak = weak_from_this(), work = std::move(work)] {
    const auto self = weak.lock();
    if (!self || self->over_) return;
    if (self->thrown_)
      call_user(work, self->thrown_);
    else
      work();
  });
}

Permit LifePermits::State::wait(std::string_view name, const std::stop_token& cancelled) {
  const auto kept = shared_from_this();
  std::unique_lock lock(waiting_mutex_);
  const auto* const strand = executor_.target<asio::strand<asio::any_io_executor>>();
  if (strand && strand->running_in_this_thread())
    throw std::logic_error(
        "acquire().wait() on the application's executor would wait for ever, as `start` runs there "
        "too; use acquire().then(...), co_await acquire() or try_acquire()");
  std::optional<Permit> permit;
  ++waiting_;
  more_.wait(lock, cancelled,
             [&] { return over_ || (is_announced() && (permit = try_acquire(name))); });
  --waiting_;
  lock.unlock();
  if (permit) return *std::move(permit);
  throw boost::system::system_error(make_error_code(boost::system::errc::operation_canceled),
                                    over_ ? "no permit: the life is over" : "no permit");
}

// --- The owner's side

LifePermits::LifePermits(Duration longest_gap, asio::any_io_executor executor,
                         std::function<void(const std::string&)> thrown)
    : state_(std::make_shared<State>(longest_gap, std::move(executor), std::move(thrown))),
      door_(state_) {}

LifePermits::~LifePermits() {
  close();
  revoke({});
}

void LifePermits::turned(Duration boottime, std::optional<Moment> right) {
  state_->turned(boottime, right);
}
void LifePermits::grant(GroupNumber group) {
  state_->grant(group);
}
std::uint64_t LifePermits::grants() const {
  return state_->grants();
}
void LifePermits::announce(std::uint64_t grant) {
  state_->announce(grant);
}
std::optional<LifePermits::Revoked> LifePermits::revoke(std::function<void()> returned) {
  return state_->revoke(std::move(returned));
}
std::optional<std::uint64_t> LifePermits::present_grant() const {
  return state_->present_grant();
}
bool LifePermits::may_work() const {
  return state_->may_work();
}
PermitsOut LifePermits::out() const {
  return state_->out();
}
void LifePermits::close() {
  state_->close();
}

}  // namespace muster::net
