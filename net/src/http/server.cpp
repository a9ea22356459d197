#include "http/server.hpp"

#include "tls/tls.hpp"
#include "wire/listener.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <list>
#include <utility>

namespace muster::net::http {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_guests = 32;
/// The most bytes from one guest, including bytes after its request. Reading more would occupy the
/// node's thread.
constexpr std::size_t most_bytes = 256 * 1024;
/// The longest time for each of three steps: to receive the request, to write the answer, and to
/// wait until the other side has read it.
constexpr auto guest_deadline = 2s;
/// New connections in a tenth of a second. More handshakes would occupy the node's thread.
constexpr unsigned most_arrivals = 128;
constexpr unsigned most_handshakes = 16;
constexpr auto between_counts = 100ms;

constexpr const char* methods = "Allow: GET, HEAD, OPTIONS\r\n";

Answer refusal(unsigned status, const std::string& why, const char* headers = "") {
  return {status, why + '\n', "text/plain; charset=utf-8", headers};
}

}  // namespace

class Server::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(asio::any_io_executor executor, std::shared_ptr<const Tls> tls, Handlers handlers)
      : executor_(std::move(executor)), tls_(std::move(tls)), handlers_(std::move(handlers)) {}

  Expected<> listen(const std::string& address) {
    Listener::Handlers handlers;
    handlers.accepted = [weak = weak_from_this()](Tcp::socket socket) {
      if (const auto self = weak.lock()) self->on_connection(std::move(socket));
    };
    handlers.exhausted = [weak = weak_from_this()] {
      if (const auto self = weak.lock(); self && !self->guests_.empty())
        self->leave(self->guests_.front());
    };
    handlers.turn_ended = [reserve = reserve_] { reserve->restock(); };
    listener_ = std::make_shared<Listener>(executor_, reserve_, std::move(handlers));
    return listener_->listen(address);
  }

  void close() {
    if (listener_) listener_->close();
    for (const auto& guest : std::exchange(guests_, {})) guest->close();
  }

 private:
  struct Guest {
    Guest(Tcp::socket from, std::unique_ptr<Channel> encrypted)
        : socket(std::move(from)), timer(socket.get_executor()), channel(std::move(encrypted)) {}
    void close() {
      error_code ignored;
      socket.close(ignored);
      timer.cancel();
    }
    Tcp::socket socket;
    asio::steady_timer timer;
    std::unique_ptr<Channel> channel;
    std::array<char, 4096> room{};
    std::string asked;      ///< the part of the request that was received
    std::string out;        ///< being written
    std::size_t bytes = 0;  ///< received
    bool answered = false;
  };
  using Who = std::shared_ptr<Guest>;

  void on_connection(Tcp::socket socket) {
    const auto now = std::chrono::steady_clock::now();
    if (now - counted_since_ > between_counts) {
      counted_since_ = now;
      arrivals_ = 0;
    }
    if (++arrivals_ > (tls_ ? most_handshakes : most_arrivals)) return;  // closed unread
    if (guests_.size() >= most_guests) leave(least_wanted());
    prepare_stream(socket, guest_deadline);
    const auto guest = guests_.emplace_back(
        std::make_shared<Guest>(std::move(socket), tls_ ? tls_->channel(Side::accepted) : nullptr));
    bound(guest);
    read(guest);
  }

  // The oldest guest that has not asked yet. If all guests have asked, the oldest one.
  [[nodiscard]] Who least_wanted() const {
    const auto idle = std::find_if(guests_.begin(), guests_.end(),
                                   [](const Who& guest) { return !guest->answered; });
    return idle == guests_.end() ? guests_.front() : *idle;
  }

  void bound(const Who& guest) {
    guest->timer.expires_after(guest_deadline);
    guest->timer.async_wait([weak = weak_from_this(), guest](error_code error) {
      if (const auto self = weak.lock(); self && !error) self->leave(guest);
    });
  }

  void leave(Who guest) {
    guest->close();
    guests_.remove(guest);
  }

  // Reads until the guest has asked, and again after the answer until the guest has closed. Closing
  // earlier would reset the connection before the guest has read the answer.
  void read(const Who& guest) {
    guest->socket.async_read_some(
        asio::buffer(guest->room),
        [weak = weak_from_this(), guest](error_code error, std::size_t size) {
          const auto self = weak.lock();
          if (!self || !guest->socket.is_open()) return;
          if (error || (guest->bytes += size) > most_bytes) return self->leave(guest);
          if (!guest->answered) self->on_bytes(guest, {guest->room.data(), size});
          self->write(guest);
        });
  }

  void write(const Who& guest) {
    if (guest->channel && guest->out.empty()) guest->out = std::exchange(guest->channel->out(), {});
    if (guest->out.empty()) return read(guest);
    asio::async_write(guest->socket, asio::buffer(guest->out),
                      [weak = weak_from_this(), guest](error_code error, std::size_t) {
                        const auto self = weak.lock();
                        if (!self || !guest->socket.is_open()) return;
                        if (error) return self->leave(guest);
                        guest->out.clear();
                        if (!guest->answered) return self->read(guest);
                        guest->socket.shutdown(Tcp::socket::shutdown_send, error);
                        self->bound(guest);
                        self->read(guest);
                      });
  }

  void on_bytes(const Who& guest, std::string_view bytes) {
    if (!guest->channel) return heard(guest, bytes);
    Channel& channel = *guest->channel;
    channel.on_bytes(bytes);
    std::array<char, 4096> room;
    while (!guest->answered) {
      const std::size_t size = channel.read(room);
      if (size == 0) break;
      heard(guest, {room.data(), size});
    }
    if (guest->answered || !channel.end()) return;
    guest->answered = true;  // by an alert
    if (channel.end()->kind == ChannelEnd::Kind::plain)
      guest->out =
          bytes_of(refusal(400, "this is HTTPS: use https:// and a client certificate"), true);
    bound(guest);
  }

  void heard(const Who& guest, std::string_view bytes) {
    std::string& asked = guest->asked;
    const std::size_t from = asked.size() < 3 ? 0 : asked.size() - 3;
    asked += bytes;
    const std::size_t end = asked.find("\r\n\r\n", from);
    if (std::min(end, asked.size()) + 4 > longest_request)
      return tell(guest, refusal(431, "the request is larger than 8 KiB"), true);
    if (end == std::string::npos) return;
    const auto request = parse_request(std::string_view(asked).substr(0, end + 4));
    if (!request) return tell(guest, refusal(400, "this is not an HTTP/1 request"), true);
    tell(guest, answer_to(*request), request->method != "HEAD");
  }

  [[nodiscard]] Answer answer_to(const Request& request) const {
    const bool options = request.method == "OPTIONS";
    if (request.method != "GET" && request.method != "HEAD" && !options)
      return refusal(405, "these pages are read-only: use GET, HEAD or OPTIONS", methods);
    if (request.demands_host && !request.host)
      return refusal(400, "the request must have exactly one Host header");
    if (!tls_ && request.host && !handlers_.is_own(*request.host))
      return refusal(421,
                     "the Host header does not name this node: use a numeric address, localhost, "
                     "or the name at which the node listens");
    Answer answer = handlers_.answer(request);
    if (options) answer.headers += methods;
    return answer;
  }

  void tell(const Who& guest, const Answer& answer, bool with_body) {
    guest->answered = true;
    const std::string bytes = bytes_of(answer, with_body);
    if (guest->channel)
      guest->channel->write(bytes);
    else
      guest->out = bytes;
    bound(guest);
  }

  const asio::any_io_executor executor_;
  const std::shared_ptr<const Tls> tls_;
  const Handlers handlers_;
  const std::shared_ptr<Reserve> reserve_ = std::make_shared<Reserve>();
  std::shared_ptr<Listener> listener_;
  std::list<Who> guests_;  // the oldest first
  std::chrono::steady_clock::time_point counted_since_{};
  unsigned arrivals_ = 0;
};

Server::Server(asio::any_io_executor executor, std::shared_ptr<const Tls> tls, Handlers handlers)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(tls), std::move(handlers))) {}

Server::~Server() {
  close();
}

Expected<> Server::listen(const std::string& address) {
  return impl_->listen(address);
}
void Server::close() {
  impl_->close();
}

}  // namespace muster::net::http
