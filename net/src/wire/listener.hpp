#pragma once

#include "base/sockets.hpp"
#include "wire/reserve.hpp"

#include <muster/values/failure.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace muster::net {

/// Accepts connections at this node's address.
class Listener : public std::enable_shared_from_this<Listener> {
 public:
  struct Handlers {
    std::function<void(Tcp::socket)> accepted;
    std::function<void()> exhausted;   ///< no descriptor is free for another connection
    std::function<void()> turn_ended;  ///< the listener's work for one event is done
  };

  Listener(boost::asio::any_io_executor executor, std::shared_ptr<Reserve> reserve,
           Handlers handlers);

  Expected<> listen(const std::string& address);
  [[nodiscard]] std::uint16_t port() const;
  /// True if no other machine can dial this address.
  [[nodiscard]] bool is_at_loopback() const;

  /// Accepts the connections that wait already, but at most `most` of them.
  void accept_now(std::size_t most);

  void close();

 private:
  void accept();
  void on_connection(Tcp::socket socket);
  void accept_later();

  /// A second descriptor of a socket. The second descriptor is closed when this object is
  /// destroyed.
  class SecondDescriptor {
   public:
    SecondDescriptor() = default;
    SecondDescriptor(const SecondDescriptor&) = delete;
    SecondDescriptor& operator=(const SecondDescriptor&) = delete;
    ~SecondDescriptor() { close(); }
    void open(int descriptor);
    void close();

   private:
    int descriptor_ = -1;
  };

  boost::asio::any_io_executor executor_;
  std::shared_ptr<Reserve> reserve_;
  Handlers handlers_;
  Tcp::acceptor acceptor_;
  SecondDescriptor high_;
  boost::asio::steady_timer retry_;
};

}  // namespace muster::net
