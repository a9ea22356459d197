#include <muster/net/line_socket.hpp>

#include "base/sockets.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace muster::net {

namespace asio = boost::asio;
using boost::system::error_code;
using Unix = asio::local::stream_protocol;

namespace {

constexpr std::size_t longest_path = sizeof(sockaddr_un::sun_path) - 1;

Failure bad_path(const std::string& path, const std::string& why) {
  return Failure{ExitCode::bad_configuration, "cannot answer at " + path + ": " + why};
}

// Removes the socket of a dead process. No living process uses it, as this process holds the lock
// of the store beside it.
Expected<> remove_old_socket(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return {};
  if (!S_ISSOCK(found.st_mode))
    return bad_path(path, "a file that is not a socket is in the way; remove it");
  if (::unlink(path.c_str()) != 0) return bad_path(path, std::strerror(errno));
  return {};
}

Expected<> open_for_owner(Unix::acceptor& acceptor, const std::string& path) {
  if (path.size() > longest_path) {
    return bad_path(path, "the path has " + std::to_string(path.size()) +
                              " bytes, but the system allows at most " +
                              std::to_string(longest_path) + "; use a shorter directory");
  }
  if (const auto removed = remove_old_socket(path); !removed) return removed;
  error_code error;
  acceptor.open(Unix(), error);
  if (!error) {
    close_on_exec(acceptor.native_handle());
    acceptor.bind(Unix::endpoint(path), error);
  }
  if (is_exhausted(error))
    return Failure{ExitCode::temporary, "cannot answer at " + path + ": " + no_descriptors};
  if (error) return bad_path(path, error.message());
  // Clients cannot connect before `listen`, so the mode is set in time.
  if (::chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0) return bad_path(path, std::strerror(errno));
  acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return bad_path(path, error.message());
  return {};
}

}  // namespace

// --- LineSocket

void LineSocket::read(std::size_t most, std::function<void(error_code, std::string)> on_line) {
  asio::async_read_until(socket_, asio::dynamic_buffer(text_, most), '\n',
                         [self = shared_from_this(), on_line = std::move(on_line)](
                             error_code error, std::size_t size) {
                           if (!error && !self->socket_.is_open())
                             error = asio::error::operation_aborted;
                           if (error) return on_line(error, {});
                           std::string line = self->text_.substr(0, size - 1);
                           self->text_.erase(0, size);
                           on_line(error, std::move(line));
                         });
}

void LineSocket::tell(std::string line, std::function<void()> gone) {
  untold_bytes_ += line.size() + 1;
  untold_.push_back({std::move(line) + "\n", std::move(gone)});
  if (untold_.size() == 1) write();
}

// Writes the first waiting line. If the connection is broken, all waiting lines fail one after the
// other, and the reading side reports the end. The pending write owns this object, so an event loop
// that ends releases both.
void LineSocket::write() {
  Untold& first = untold_.front();
  asio::async_write(
      socket_, asio::buffer(first.line),
      [self = shared_from_this(), gone = std::move(first.gone)](error_code, std::size_t) {
        self->untold_bytes_ -= self->untold_.front().line.size();
        self->untold_.pop_front();
        if (!self->untold_.empty()) self->write();
        if (gone) gone();
      });
}

void LineSocket::close() {
  error_code ignored;
  socket_.close(ignored);
}

void LineSocket::close_with(const std::string& line) {
  error_code ignored;
  socket_.non_blocking(true, ignored);
  if (untold_.empty()) socket_.send(asio::buffer(line + "\n"), 0, ignored);
  close();
}

// --- LineListener

class LineListener::Impl : public std::enable_shared_from_this<LineListener::Impl> {
 public:
  Impl(const asio::any_io_executor& executor, OnConnection on_connection)
      : on_connection_(std::move(on_connection)), acceptor_(executor), retry_(executor) {}

  Expected<> listen(const std::string& path) {
    if (const auto open = open_for_owner(acceptor_, path); !open) return open;
    path_ = path;
    listens_ = true;
    accept();
    return {};
  }

  void close() {
    error_code ignored;
    acceptor_.close(ignored);
    retry_.cancel();
    if (std::exchange(listens_, false)) ::unlink(path_.c_str());
  }

 private:
  void accept() {
    acceptor_.async_accept([self = shared_from_this()](error_code error, UnixSocket socket) {
      if (!self->listens_) return;
      if (error) return self->accept_later();
      close_on_exec(socket.native_handle());
      self->on_connection_(std::move(socket));
      self->accept();
    });
  }

  void accept_later() {
    retry_.expires_after(again_when_exhausted);
    retry_.async_wait([self = shared_from_this()](error_code error) {
      if (!error && self->listens_) self->accept();
    });
  }

  OnConnection on_connection_;
  std::string path_;
  Unix::acceptor acceptor_;
  asio::steady_timer retry_;
  bool listens_ = false;
};

LineListener::LineListener(asio::any_io_executor executor, OnConnection on_connection)
    : impl_(std::make_shared<Impl>(executor, std::move(on_connection))) {}

LineListener::~LineListener() {
  impl_->close();
}

Expected<> LineListener::listen(const std::string& path) {
  return impl_->listen(path);
}
void LineListener::close() {
  impl_->close();
}

}  // namespace muster::net
