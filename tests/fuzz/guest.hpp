#pragma once

#include "fuzz/input.hpp"
#include "storage/temporary_directory.hpp"

#include <boost/asio/io_context.hpp>

#include <array>
#include <string>
#include <vector>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/// A client of a Unix socket. The same thread also runs the server of that socket.

namespace muster::fuzz {

/// The path of the socket.
inline std::string socket_path() {
  static const test::TemporaryDirectory directory{test::TemporaryDirectory::in_memory()};
  return (directory.path() / "socket").string();
}

class Guest {
 public:
  explicit Guest(boost::asio::io_context& context) : context_(context) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_path().copy(address.sun_path, sizeof address.sun_path - 1);
    require(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    serve();
  }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;
  ~Guest() {
    ::close(socket_);
    serve();
  }

  void say(std::string_view bytes) {
    ::send(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    serve();
  }
  /// All bytes that the client has received so far.
  const std::string& heard() {
    std::array<char, 4096> some{};
    for (ssize_t size = 0; (size = ::recv(socket_, some.data(), some.size(), MSG_DONTWAIT)) > 0;
         serve())
      heard_.append(some.data(), static_cast<std::size_t>(size));
    return heard_;
  }

 private:
  void serve() {
    context_.restart();
    while (context_.poll() > 0) continue;
  }

  boost::asio::io_context& context_;
  int socket_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
  std::string heard_;
};

}  // namespace muster::fuzz
