#include "wire.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <stdexcept>
#include <utility>

namespace muster::test {

namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

apps::Descriptor new_socket() {
  return apps::Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Makes the system send bytes at once, so that they leave even if a reset follows.
void without_delay(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool await(int socket, short what, Duration bound) {
  pollfd one{socket, what, 0};
  return ::poll(&one, 1, static_cast<int>(bound / std::chrono::milliseconds(1))) > 0;
}

}  // namespace

Wire::Wire(std::uint16_t port, Duration bound) : socket_(new_socket()) {
  const sockaddr_in address = loopback(port);
  ::connect(socket_.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  int error = ETIMEDOUT;
  socklen_t size = sizeof error;
  if (await(socket_.fd(), POLLOUT, bound))
    ::getsockopt(socket_.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error == 0)
    without_delay(socket_.fd());
  else
    close();
}

Wire::Wire(apps::Descriptor accepted) : socket_(std::move(accepted)) {
  if (socket_) without_delay(socket_.fd());
}

bool Wire::say(std::string_view bytes) {
  while (is_open() && !bytes.empty()) {
    const ssize_t size = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return is_open();
}

std::optional<net::Frame> Wire::hear(Duration bound) {
  while (is_open()) {
    auto frame = reader_.next();
    if (!frame) throw std::runtime_error("a node says what is no frame: " + frame.error().what);
    if (*frame) return **std::move(frame);
    if (!await(fd(), POLLIN, bound)) return std::nullopt;
    const auto room = reader_.room();
    const ssize_t size = ::recv(fd(), room.data(), room.size(), 0);
    if (size <= 0) return std::nullopt;
    reader_.filled(static_cast<std::size_t>(size));
  }
  return std::nullopt;
}

void Wire::finish() {
  if (is_open()) ::shutdown(fd(), SHUT_WR);
}

void Wire::reset() {
  const linger at_once{1, 0};
  if (is_open()) ::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

Door::Door(std::uint16_t port) : socket_(new_socket()) {
  const int on = 1;
  ::setsockopt(socket_.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = loopback(port);
  if (::bind(socket_.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket_.fd(), SOMAXCONN) != 0)
    throw std::runtime_error("cannot listen at port " + std::to_string(port));
}

Wire Door::next(Duration bound) {
  if (!await(socket_.fd(), POLLIN, bound)) return Wire(apps::Descriptor());
  return Wire(
      apps::Descriptor(::accept4(socket_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)));
}

}  // namespace muster::test
