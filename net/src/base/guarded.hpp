#pragma once

#include <muster/values/failure.hpp>

#include <boost/asio/execution.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <unistd.h>

namespace muster::net {

/// Takes what has left a handler, none where that is no std::exception, and does not return: what
/// was to come after is not done, and nobody could know what that was.
using Thrown = std::function<void(const std::exception* error)>;

/// Where what was thrown says that this process got no memory, thread or descriptor: that.
std::optional<Failure> shortage(const std::exception& error);

/// The fault that ends `node` when an exception leaves a handler; null: no std::exception.
Failure left_a_handler(const std::string& node, const std::exception* error);

/// An executor that hands what leaves a handler to `thrown`. All of Asio that is made with it runs
/// its handlers so: sockets, timers, what is posted.
template <class Inner>
class Guarded {
 public:
  Guarded(Inner inner, std::shared_ptr<Thrown> thrown)
      : inner_(std::move(inner)), thrown_(std::move(thrown)) {}

  template <class Work>
  void execute(Work&& work) const {
    inner_.execute(
        [work = std::decay_t<Work>(std::forward<Work>(work)), thrown = thrown_]() mutable {
          try {
            std::move(work)();
          } catch (const std::exception& error) {
            tell(*thrown, &error);
          } catch (...) {
            tell(*thrown, nullptr);
          }
        });
  }

  template <class Property>
  requires boost::asio::can_query_v<const Inner&, Property>
  [[nodiscard]] decltype(auto) query(const Property& property) const {
    return boost::asio::query(inner_, property);
  }
  template <class Property>
  requires boost::asio::can_require_v<const Inner&, Property>
  [[nodiscard]] auto require(const Property& property) const {
    return with(boost::asio::require(inner_, property));
  }
  template <class Property>
  requires boost::asio::can_prefer_v<const Inner&, Property>
  [[nodiscard]] auto prefer(const Property& property) const {
    return with(boost::asio::prefer(inner_, property));
  }

  friend bool operator==(const Guarded& left, const Guarded& right) noexcept {
    return left.inner_ == right.inner_;
  }

 private:
  template <class Other>
  [[nodiscard]] auto with(Other other) const {
    return Guarded<Other>(std::move(other), thrown_);
  }

  // There may be no memory for the sentence: then it ends without one.
  static void tell(const Thrown& thrown, const std::exception* error) {
    try {
      thrown(error);
    } catch (...) {
      const bool no_memory = dynamic_cast<const std::bad_alloc*>(error) != nullptr;
      ::_exit(static_cast<int>(no_memory ? ExitCode::io_error : ExitCode::impossible_state));
    }
  }

  Inner inner_;
  std::shared_ptr<Thrown> thrown_;
};

}  // namespace muster::net
