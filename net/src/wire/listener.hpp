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
    std::function<void()> exhausted;   ///< no descriptor is left for another connection
    std::function<void()> turn_ended;  ///< each time that it has done what it was woken for
  };

  Listener(boost::asio::any_io_executor executor, std::shared_ptr<Reserve> reserve,
           Handlers handlers);

  Expected<> listen(const std::string& address);
  [[nodiscard]] std::uint16_t port() const;
  /// Nobody on another machine can dial it.
  [[nodiscard]] bool is_at_loopback() const;

  /// Accepts those who have dialled already, so many at most.
  void accept_now(std::size_t most);

  void close();

 private:
  void accept();
  void took(Tcp::socket socket);
  void accept_later();

  /// A socket by another descriptor, closed when this ends.
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
