#pragma once

#include "base/sockets.hpp"
#include "wire/reserve.hpp"

#include <muster/host/driving.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace muster::net {

using host::DialEnd;

/// One attempt to resolve an address and to connect to it within a time bound. If the process has
/// no free descriptor, it uses the one in reserve, or waits until there is one.
class Dial : public std::enable_shared_from_this<Dial> {
 public:
  /// Receives the connected socket, or the way in which the dial failed.
  using Done = std::function<void(std::optional<DialEnd> failed, Tcp::socket)>;

  Dial(boost::asio::any_io_executor executor, Duration bound,
       std::shared_ptr<Reserve> reserve = nullptr);

  /// Sets a function that is called once, after this call has returned, if no descriptor is free.
  void when_exhausted(std::function<void()> exhausted) { exhausted_ = std::move(exhausted); }

  /// Calls `done` once, after this call has returned, unless the dial is given up before.
  void begin(const std::string& address, Done done);
  void give_up();

  /// The reason why the name in the address was not resolved. Empty if it was resolved.
  [[nodiscard]] const std::string& unresolved() const { return unresolved_; }

 private:
  void connect(std::vector<Tcp::endpoint> endpoints);
  void connect_next();
  void connect_later();
  [[nodiscard]] bool register_again();
  void finish(std::optional<DialEnd> failed);

  Tcp::resolver resolver_;
  Tcp::socket socket_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer again_;
  Duration bound_;
  std::shared_ptr<Reserve> reserve_;
  std::function<void()> exhausted_;
  std::string unresolved_;
  Done done_;
  std::vector<Tcp::endpoint> endpoints_;  // not tried yet; the last one is the next
  bool all_refused_ = true;
  bool reset_ = false;  // one of the addresses reset the connection
};

}  // namespace muster::net
