#include "wire/dial.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <unistd.h>

#include <utility>

namespace muster::net {

namespace asio = boost::asio;
using boost::system::error_code;

Dial::Dial(asio::any_io_executor executor, Duration bound, std::shared_ptr<Reserve> reserve)
    : resolver_(executor),
      socket_(executor),
      timer_(executor),
      again_(executor),
      bound_(bound),
      reserve_(std::move(reserve)) {}

void Dial::begin(const std::string& address, Done done) {
  done_ = std::move(done);
  timer_.expires_after(bound_);
  timer_.async_wait([self = shared_from_this()](error_code error) {
    if (!error) self->finish(DialEnd::silence);
  });
  const auto parsed = parse_address(address);
  error_code not_numeric = asio::error::host_not_found;
  if (parsed) {
    const auto numeric = asio::ip::make_address(parsed->host, not_numeric);
    if (!not_numeric) return connect({Tcp::endpoint(numeric, parsed->port)});
    unresolved_ = "no answer in time";
    return resolver_.async_resolve(
        parsed->host, std::to_string(parsed->port),
        [self = shared_from_this()](error_code error, const Tcp::resolver::results_type& results) {
          if (!self->done_) return;
          std::vector<Tcp::endpoint> endpoints;
          self->unresolved_ = error ? error.message() : std::string();
          if (!error)
            for (const auto& result : results)
              endpoints.insert(endpoints.begin(), result.endpoint());
          self->connect(std::move(endpoints));
        });
  }
  connect({});
}

void Dial::connect(std::vector<Tcp::endpoint> endpoints) {
  endpoints_ = std::move(endpoints);
  all_refused_ = !endpoints_.empty();
  reset_ = false;
  connect_next();
}

// Tries the addresses of a host in turn. The dial counts as refused only if every address refuses
// it.
void Dial::connect_next() {
  const auto later = [this](DialEnd end) {
    asio::post(timer_.get_executor(), [self = shared_from_this(), end] { self->finish(end); });
  };
  if (endpoints_.empty()) {
    if (all_refused_) return later(DialEnd::refused);
    return later(reset_ ? DialEnd::reset : DialEnd::silence);
  }
  const Tcp::endpoint endpoint = endpoints_.back();
  endpoints_.pop_back();
  error_code error;
  socket_.close(error);
  socket_.open(endpoint.protocol(), error);
  if (is_exhausted(error)) {
    if (exhausted_) asio::post(timer_.get_executor(), std::exchange(exhausted_, nullptr));
    if (reserve_ && reserve_->let_go()) socket_.open(endpoint.protocol(), error);
  }
  if (is_exhausted(error)) {
    endpoints_.push_back(endpoint);
    return connect_later();
  }
  if (error) return later(DialEnd::silence);
  close_on_exec(socket_.native_handle());
  prepare_stream(socket_, bound_);
  socket_.async_connect(endpoint, [self = shared_from_this()](error_code failed) {
    if (!self->done_) return;
    if (!failed) {
      // If no process listens at the dialled port, the kernel can have chosen this port for the
      // dialling socket itself. The socket is then connected to itself.
      error_code gone;
      const bool to_itself =
          self->socket_.local_endpoint(gone) == self->socket_.remote_endpoint(gone);
      if (!to_itself || gone) return self->finish(std::nullopt);
      self->socket_.set_option(Tcp::socket::linger(true, 0), gone);
    } else if (failed != asio::error::connection_refused) {
      self->all_refused_ = false;
      self->reset_ = self->reset_ || failed == asio::error::connection_reset;
    }
    self->connect_next();
  });
}

// Waits for a descriptor. A lack of descriptors says nothing about the other node, and a descriptor
// can become free before the bound has passed.
void Dial::connect_later() {
  again_.expires_after(again_when_exhausted);
  again_.async_wait([self = shared_from_this()](error_code error) {
    if (!error && self->done_) self->connect_next();
  });
}

void Dial::finish(std::optional<DialEnd> failed) {
  if (!done_) return;
  const Done done = std::exchange(done_, nullptr);
  exhausted_ = nullptr;
  timer_.cancel();
  again_.cancel();
  resolver_.cancel();
  if (!failed && !register_again()) failed = DialEnd::silence;
  error_code ignored;
  if (failed) socket_.close(ignored);
  done(failed, std::move(socket_));
}

// Registers the socket with the reactor again. Connecting registered it for writability, and the
// reactor would wake up after every letter that was sent. Returns false if the system has no
// resources for it.
bool Dial::register_again() {
  error_code error;
  const auto protocol = socket_.local_endpoint(error).protocol();
  if (error) return false;
  const int handle = socket_.release(error);
  if (error) return false;
  socket_.assign(protocol, handle, error);
  if (error) ::close(handle);
  if (!error) socket_.non_blocking(true, error);
  return !error;
}

void Dial::give_up() {
  done_ = nullptr;
  exhausted_ = nullptr;
  timer_.cancel();
  again_.cancel();
  resolver_.cancel();
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace muster::net
