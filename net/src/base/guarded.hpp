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

/// Receives the exception that has left a handler; null: it is not a std::exception. Must not
/// return, as the rest of the handler was not done and its effects are unknown.
using Thrown = std::function<void(const std::exception* error)>;

/// If the exception means that the process could get no memory, thread or descriptor: the failure
/// to report. None for other exceptions.
std::optional<Failure> shortage(const std::exception& error);

/// The fault that ends `node` when an exception leaves a handler. A null `error` is no
/// std::exception.
Failure left_a_handler(const std::string& node, const std::exception* error);

/// An executor that passes exceptions of its handlers to `thrown`. Sockets, timers and posted work
/// of Asio can use this executor; exceptions of their handlers then reach `thrown`.
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

  // Perhaps there is no memory for the sentence. The process then ends without it.
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
