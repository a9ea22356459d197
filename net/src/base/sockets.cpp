#include "base/sockets.hpp"

#include <boost/asio/detail/socket_option.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace muster::net {

bool is_exhausted(const boost::system::error_code& error) {
  namespace errc = boost::system::errc;
  return error == errc::too_many_files_open || error == errc::too_many_files_open_in_system ||
         error == errc::not_enough_memory || error == errc::no_buffer_space;
}

void close_on_exec(int handle) {
  ::fcntl(handle, F_SETFD, FD_CLOEXEC);
}

void prepare_stream(Tcp::socket& socket, Duration bound) {
  using UserTimeout = boost::asio::detail::socket_option::integer<IPPROTO_TCP, TCP_USER_TIMEOUT>;
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(bound).count();
  boost::system::error_code ignored;  // a broken socket reports its fault when it is read
  socket.set_option(Tcp::no_delay(true), ignored);
  socket.set_option(UserTimeout(static_cast<int>(std::clamp<long>(milliseconds, 1, 3'600'000))),
                    ignored);
  socket.non_blocking(true, ignored);
}

}  // namespace muster::net
