#pragma once

#include "socket_world.hpp"

#include <boost/asio/write.hpp>

#include <array>
#include <memory>

namespace sessions_test {

/// Cuts a connection when `bytes` bytes have passed, counted over all connections. Unless `again`
/// is set, there is no second cut.
struct Scissors {
  enum class Side { both, dialler, acceptor };  ///< the sides that see the end of the connection
  std::size_t bytes = 0;
  Side side = Side::both;
  bool again = false;  ///< cuts again whenever `bytes` more bytes have passed
  std::size_t passed = 0;
  std::size_t cuts = 0;

  /// How many of `size` bytes may pass before the next cut: all of them if there is no further cut.
  [[nodiscard]] std::size_t allow(std::size_t size) const {
    return !again && cuts > 0 ? size : std::min(size, bytes - passed);
  }
  /// Adds to the count of bytes that have passed. Returns true when it is time to cut.
  bool pass(std::size_t size) {
    passed += size;
    if ((!again && cuts > 0) || passed < bytes) return false;
    passed = 0;
    ++cuts;
    return true;
  }
};

/// Listens at one port, and passes all bytes to another.
class Proxy {
 public:
  Proxy(SocketWorld& world, const Port& at, const Port& to, Scissors& scissors)
      : acceptor_(world.context, at.endpoint()), to_(to.endpoint()), scissors_(scissors) {
    accept();
  }

 private:
  struct Link : std::enable_shared_from_this<Link> {
    Link(Tcp::socket accepted, Scissors& cutter)
        : sockets{Tcp::socket(accepted.get_executor()), Tcp::socket(accepted.get_executor())},
          scissors(cutter) {
      sockets[0] = std::move(accepted);
    }

    void pass(std::size_t from) {
      sockets[from].async_read_some(
          boost::asio::buffer(buffers[from]),
          [self = shared_from_this(), from](boost::system::error_code error, std::size_t size) {
            if (self->mute) return;
            if (error) return self->end();
            self->passed(from, size);
          });
    }
    void passed(std::size_t from, std::size_t size) {
      boost::system::error_code error;
      const std::size_t allowed = scissors.allow(size);
      if (allowed > 0)
        boost::asio::write(sockets[1 - from], boost::asio::buffer(buffers[from], allowed), error);
      if (scissors.pass(allowed)) return cut();
      if (error) return end();
      pass(from);
    }
    void cut() {
      mute = true;
      if (scissors.side != Scissors::Side::acceptor) reset(sockets[0]);
      if (scissors.side != Scissors::Side::dialler) reset(sockets[1]);
      // The other socket stays half open until its node closes it.
      for (Tcp::socket& socket : sockets)
        if (socket.is_open())
          socket.async_wait(Tcp::socket::wait_error,
                            [self = shared_from_this()](boost::system::error_code) {});
    }
    void end() {
      for (Tcp::socket& socket : sockets) {
        boost::system::error_code ignored;
        socket.close(ignored);
      }
    }
    static void reset(Tcp::socket& socket) {
      boost::system::error_code ignored;
      socket.set_option(Tcp::socket::linger(true, 0), ignored);
      socket.close(ignored);
    }

    std::array<Tcp::socket, 2> sockets;  // the socket of the dialler, and that of the acceptor
    std::array<std::array<char, 4096>, 2> buffers{};
    Scissors& scissors;
    bool mute = false;
  };

  void accept() {
    acceptor_.async_accept([this](boost::system::error_code error, Tcp::socket socket) {
      if (error) return;
      accept();
      const auto link = std::make_shared<Link>(std::move(socket), scissors_);
      link->sockets[1].async_connect(to_, [link](boost::system::error_code failed) {
        if (failed) return link->end();
        for (Tcp::socket& one : link->sockets) one.set_option(Tcp::no_delay(true), failed);
        link->pass(0);
        link->pass(1);
      });
    });
  }

  Tcp::acceptor acceptor_;
  Tcp::endpoint to_;
  Scissors& scissors_;
};

}  // namespace sessions_test
