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

/// One attempt to connect to an address, resolved anew each time, within a bound. For want of a
/// descriptor it waits until there is one, and takes the one in reserve.
class Dial : public std::enable_shared_from_this<Dial> {
 public:
  /// The connected socket, or how it failed.
  using Done = std::function<void(std::optional<DialEnd> failed, Tcp::socket)>;

  Dial(boost::asio::any_io_executor executor, Duration bound,
       std::shared_ptr<Reserve> reserve = nullptr);

  /// Called once, later, where no descriptor was left for it.
  void when_exhausted(std::function<void()> exhausted) { exhausted_ = std::move(exhausted); }

  /// Calls `done` once, later, unless it is given up before.
  void begin(const std::string& address, Done done);
  void give_up();

  /// Why the address is none that could be dialled: its name was not resolved. Empty where it was.
  [[nodiscard]] const std::string& unresolved() const { return unresolved_; }

 private:
  void connect(std::vector<Tcp::endpoint> endpoints);
  void connect_next();
  void connect_later();
  [[nodiscard]] bool register_anew();
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
  std::vector<Tcp::endpoint> endpoints_;  // still to be tried, the last first
  bool all_refused_ = true;
  bool reset_ = false;  // one of them was
};

}  // namespace muster::net
