#include <muster/net/permits.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include <atomic>

namespace muster::net {

namespace asio = boost::asio;

namespace {

/// One operation that waits for a permit. Everything except `wait` runs on its executor.
class Awaiting : public std::enable_shared_from_this<Awaiting> {
 public:
  using Complete = std::function<void(boost::system::error_code, Permit)>;

  Awaiting(Acquisition acquisition, const asio::any_io_executor& executor, Complete complete)
      : acquisition_(std::move(acquisition)),
        executor_(asio::prefer(executor, asio::execution::outstanding_work.tracked)),
        complete_(std::move(complete)) {}

  void wait() {
    number_ = acquisition_.host()->when_given(
        [self = shared_from_this(), executor = executor_](bool there) {
          asio::post(executor, [self, there] { self->told(there); });
        });
  }

  void cancel() {
    acquisition_.host()->forget(number_);
    asio::post(executor_, [self = shared_from_this()] { self->told(false); });
  }

 private:
  // The permit can be revoked before the executor runs this function. Then the operation waits for
  // the next group.
  void told(bool there) {
    if (!complete_) return;
    if (!there) return end(asio::error::operation_aborted, {});
    if (auto permit = acquisition_.host()->try_acquire(acquisition_.name()))
      return end({}, *std::move(permit));
    wait();
  }
  void end(boost::system::error_code error, Permit permit) {
    executor_ = asio::any_io_executor();  // otherwise its context would never run out of work
    std::exchange(complete_, nullptr)(error, std::move(permit));
  }

  Acquisition acquisition_;
  asio::any_io_executor executor_;
  std::atomic<std::uint64_t> number_ = 0;
  Complete complete_;
};

}  // namespace

void await_permit(Acquisition acquisition, const asio::any_io_executor& executor,
                  asio::cancellation_slot slot,
                  std::function<void(boost::system::error_code, Permit)> complete) {
  const auto awaiting =
      std::make_shared<Awaiting>(std::move(acquisition), executor, std::move(complete));
  if (slot.is_connected())
    slot.assign([weak = std::weak_ptr(awaiting)](asio::cancellation_type) {
      if (const auto self = weak.lock()) self->cancel();
    });
  awaiting->wait();
}

}  // namespace muster::net
