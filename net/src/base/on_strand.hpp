#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>

#include <memory>
#include <utility>

namespace muster::net {

/// Wraps a callback for another thread. When it is called with `what`, it posts `act(self, what)`
/// to the strand. Nothing happens if `self` no longer exists by then.
template <class Self, class Act>
auto on_strand(boost::asio::any_io_executor strand, std::weak_ptr<Self> weak, Act act) {
  return [strand = std::move(strand), weak = std::move(weak), act = std::move(act)](auto what) {
    boost::asio::post(strand, [weak, act, what = std::move(what)]() mutable {
      if (const auto self = weak.lock()) act(*self, std::move(what));
    });
  };
}

}  // namespace muster::net
