#include <muster/net/owner_socket.hpp>

#include "sockets.hpp"

#include <cerrno>
#include <cstring>

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace muster::net {
namespace {

constexpr std::size_t longest_path = sizeof(sockaddr_un::sun_path) - 1;

Failure bad_path(const std::string& path, const std::string& why) {
  return Failure{ExitCode::bad_configuration, "cannot answer at " + path + ": " + why};
}

// Of a dead process, for whoever lives holds the lock of the store beside it.
Expected<> remove_old_socket(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return {};
  if (!S_ISSOCK(found.st_mode))
    return bad_path(path, "there is something that is no socket; remove it");
  if (::unlink(path.c_str()) != 0) return bad_path(path, std::strerror(errno));
  return {};
}

}  // namespace

Expected<> listen_for_owner(boost::asio::local::stream_protocol::acceptor& acceptor,
                            const std::string& path) {
  if (path.size() > longest_path) {
    return bad_path(path, "the path has " + std::to_string(path.size()) +
                              " bytes, the system allows " + std::to_string(longest_path) +
                              "; use a shorter directory");
  }
  if (const auto removed = remove_old_socket(path); !removed) return removed;
  boost::system::error_code error;
  acceptor.open(boost::asio::local::stream_protocol(), error);
  if (!error) {
    close_on_exec(acceptor.native_handle());
    acceptor.bind(boost::asio::local::stream_protocol::endpoint(path), error);
  }
  if (is_exhausted(error))
    return Failure{ExitCode::temporary, "cannot answer at " + path + ": " + no_descriptors};
  if (error) return bad_path(path, error.message());
  // Nobody can connect before `listen`.
  if (::chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0) return bad_path(path, std::strerror(errno));
  acceptor.listen(boost::asio::socket_base::max_listen_connections, error);
  if (error) return bad_path(path, error.message());
  return {};
}

void keep_from_children(boost::asio::local::stream_protocol::socket& socket) {
  close_on_exec(socket.native_handle());
}

}  // namespace muster::net
