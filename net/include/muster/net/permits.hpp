#pragma once

#include <muster/detail/net/one_boost.hpp>
#include <muster/permits.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/system/error_code.hpp>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

/// Lets coroutines and other handlers of Asio wait for a permit: `co_await
/// services.permits().acquire()` in any coroutine of Asio, or `acquire()(token)` with any
/// completion token.

namespace MUSTER_EXPORT muster {

namespace net {

/// Waits for a permit on behalf of an operation of Asio, and calls `complete` on `executor`. A
/// cancellation through `slot` ends the wait with the error `operation_aborted`.
void await_permit(Acquisition acquisition, const boost::asio::any_io_executor& executor,
                  boost::asio::cancellation_slot slot,
                  std::function<void(boost::system::error_code, Permit)> complete);

}  // namespace net

/// Acquisition::operator() calls this function. Argument-dependent lookup finds it.
template <boost::asio::completion_token_for<void(boost::system::error_code, Permit)> Token>
auto begin_acquiring(const Acquisition& acquisition, Token&& token) {
  const auto begin = [](auto handler, Acquisition begun) {
    const boost::asio::any_io_executor executor = boost::asio::get_associated_executor(handler);
    const auto slot = boost::asio::get_associated_cancellation_slot(handler);
    const auto kept = std::make_shared<decltype(handler)>(std::move(handler));
    net::await_permit(std::move(begun), executor, slot,
                      [kept](boost::system::error_code error, Permit permit) {
                        auto go_on = std::move(*kept);
                        std::move(go_on)(error, std::move(permit));
                      });
  };
  return boost::asio::async_initiate<Token, void(boost::system::error_code, Permit)>(begin, token,
                                                                                     acquisition);
}

}  // namespace muster
