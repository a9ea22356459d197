#pragma once

#include "sockets.hpp"

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

/// One attempt to connect to an address, resolved anew each time, within a bound.
class Dial : public std::enable_shared_from_this<Dial> {
 public:
  /// The connected socket, or how it failed.
  using Done = std::function<void(std::optional<DialEnd> failed, Tcp::socket)>;

  Dial(boost::asio::any_io_executor executor, Duration bound);

  /// Calls `done` once, later, unless it is given up before.
  void begin(const std::string& address, Done done);
  void give_up();

 private:
  void connect(std::vector<Tcp::endpoint> endpoints);
  void connect_next();
  [[nodiscard]] bool register_anew();
  void finish(std::optional<DialEnd> failed);

  Tcp::resolver resolver_;
  Tcp::socket socket_;
  boost::asio::steady_timer timer_;
  Duration bound_;
  Done done_;
  std::vector<Tcp::endpoint> endpoints_;  // still to be tried, the last first
  bool all_refused_ = true;
  bool reset_ = false;  // one of them was
};

}  // namespace muster::net
