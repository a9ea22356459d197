#include "sockets.hpp"

#include <boost/asio/detail/socket_option.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace muster::net {

Expected<Address> parse_address(std::string_view text) {
  const auto bad = [&] {
    return Failure{ExitCode::bad_configuration,
                   "the address \"" + std::string(text) +
                       "\" is none: write host:port, like 127.0.0.1:7101, or [::1]:7101"};
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad();
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return bad();
  }
  const bool digits = port.size() <= 5 && std::all_of(port.begin(), port.end(),
                                                      [](char c) { return c >= '0' && c <= '9'; });
  if (host.empty() || port.empty() || !digits || std::stoul(std::string(port)) > 65535)
    return bad();
  return Address{std::string(host), std::string(port)};
}

void close_on_exec(int handle) {
  ::fcntl(handle, F_SETFD, FD_CLOEXEC);
}

void prepare_stream(Tcp::socket& socket, Duration bound) {
  using UserTimeout = boost::asio::detail::socket_option::integer<IPPROTO_TCP, TCP_USER_TIMEOUT>;
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(bound).count();
  boost::system::error_code ignored;  // a socket that is broken already says so when it is read
  socket.set_option(Tcp::no_delay(true), ignored);
  socket.set_option(UserTimeout(static_cast<int>(std::clamp<long>(milliseconds, 1, 3'600'000))),
                    ignored);
  socket.non_blocking(true, ignored);
}

bool at_end(Tcp::socket& socket) {
  char byte = 0;
  const auto size = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return size == 0 || (size < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

}  // namespace muster::net
