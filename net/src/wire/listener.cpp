#include "wire/listener.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace muster::net {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

Failure cannot_listen(const std::string& address, const error_code& error) {
  if (error == asio::error::address_in_use) {
    return Failure{ExitCode::temporary,
                   "cannot listen at " + address +
                       ": the address is in use; end the process that listens there "
                       "(ss -ltnp names it), or give this node another address"};
  }
  if (error == boost::system::errc::address_not_available) {
    return Failure{ExitCode::temporary,
                   "cannot listen at " + address +
                       ": this machine does not have that address; start the node again when the "
                       "machine has it (ip address shows all), or give this node another address"};
  }
  if (error == asio::error::host_not_found_try_again) {
    return Failure{ExitCode::temporary,
                   "cannot listen at " + address +
                       ": the name cannot be resolved now; start the node again when it can, or "
                       "give this node a numeric address"};
  }
  if (is_exhausted(error))
    return Failure{ExitCode::temporary, "cannot listen at " + address + ": " + no_descriptors};
  return Failure{ExitCode::bad_configuration,
                 "cannot listen at " + address + ": " + error.message() +
                     "; give this node an address of this machine that it may listen at"};
}

}  // namespace

Listener::Listener(asio::any_io_executor executor, std::shared_ptr<Reserve> reserve,
                   Handlers handlers)
    : executor_(std::move(executor)),
      reserve_(std::move(reserve)),
      handlers_(std::move(handlers)),
      acceptor_(executor_),
      retry_(executor_) {}

Expected<> Listener::listen(const std::string& address) {
  const auto parsed = parse_address(address);
  if (!parsed) return parsed.error();
  error_code error;
  Tcp::resolver resolver(executor_);
  const auto found =
      resolver.resolve(parsed->host, std::to_string(parsed->port), Tcp::resolver::passive, error);
  if (error || found.empty()) return cannot_listen(address, error);
  const Tcp::endpoint endpoint = found.begin()->endpoint();
  acceptor_.open(endpoint.protocol(), error);
  if (!error) {
    close_on_exec(acceptor_.native_handle());
    acceptor_.set_option(Tcp::acceptor::reuse_address(true), error);
  }
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (!error) acceptor_.non_blocking(true, error);
  if (error) {
    error_code ignored;
    acceptor_.close(ignored);
    return cannot_listen(address, error);
  }
  high_.open(acceptor_.native_handle());
  accept();
  return {};
}

// Opens a second descriptor of the listening socket, with a number above those of all connections.
//
// A refused dial is the proof that this life is over, and a peer dials as soon as its connection
// ends. If the node leaves in order, `Sessions::close` closes the listener last. If the process is
// killed, the listener should close first. By then no part of the process works. If its listener
// were still open, a peer that dials it would get a connection without an answer, and would have to
// dial again. A killed process runs no code, but the kernel releases its sockets in a known order:
// from the highest descriptor down. A socket with two descriptors is released at the place of the
// higher one.
void Listener::SecondDescriptor::open(int descriptor) {
  constexpr rlim_t highest = 4096;  // the descriptor table has an entry for each lower number
  constexpr rlim_t beside = 16;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= beside) return;
  const auto from = static_cast<int>(std::min(limit.rlim_cur, highest) - beside);
  descriptor_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, from);
}

void Listener::SecondDescriptor::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

std::uint16_t Listener::port() const {
  error_code none;
  return acceptor_.local_endpoint(none).port();
}

bool Listener::is_at_loopback() const {
  error_code none;
  return acceptor_.local_endpoint(none).address().is_loopback();
}

void Listener::accept() {
  acceptor_.async_wait(Tcp::acceptor::wait_read, [self = shared_from_this()](error_code error) {
    if (error || !self->acceptor_.is_open()) return;
    Tcp::socket socket(self->executor_);
    self->acceptor_.accept(socket, error);
    if (is_exhausted(error)) {
      self->handlers_.exhausted();  // this may free a descriptor
      self->acceptor_.accept(socket, error);
    }
    if (is_exhausted(error) && self->reserve_->let_go()) self->acceptor_.accept(socket, error);
    if (!error) self->on_connection(std::move(socket));
    if (is_exhausted(error)) return self->accept_later();
    self->accept();
    self->handlers_.turn_ended();
  });
}

void Listener::accept_later() {
  retry_.expires_after(again_when_exhausted);
  retry_.async_wait([self = shared_from_this()](error_code error) {
    if (!error && self->acceptor_.is_open()) self->accept();
  });
  handlers_.turn_ended();
}

void Listener::accept_now(std::size_t most) {
  for (std::size_t i = 0; i < most; ++i) {
    error_code error;
    Tcp::socket socket(executor_);
    acceptor_.accept(socket, error);
    if (error) return;
    on_connection(std::move(socket));
  }
}

void Listener::on_connection(Tcp::socket socket) {
  close_on_exec(socket.native_handle());
  handlers_.accepted(std::move(socket));
}

void Listener::close() {
  retry_.cancel();
  high_.close();
  error_code ignored;
  acceptor_.close(ignored);
}

}  // namespace muster::net
