#include "sockets.hpp"

#include <muster/net/admin.hpp>
#include <muster/net/owner_socket.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <list>
#include <utility>

#include <unistd.h>

namespace muster::net {

namespace asio = boost::asio;
using boost::system::error_code;
using Unix = asio::local::stream_protocol;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_guests = 16;
constexpr std::size_t longest_question = 512;
constexpr std::size_t most_untold = 256;                // lines that wait for one who watches,
constexpr std::size_t most_untold_bytes = 1024 * 1024;  // and bytes of them
constexpr auto guest_deadline = 2s;

}  // namespace

class Admin::Impl : public std::enable_shared_from_this<Admin::Impl> {
 public:
  Impl(asio::any_io_executor executor, std::string path, Words words)
      : executor_(executor),
        path_(std::move(path)),
        words_(std::move(words)),
        acceptor_(executor),
        retry_(executor) {}

  Expected<> listen() {
    if (const auto listening = listen_for_owner(acceptor_, path_); !listening) return listening;
    listens_ = true;
    accept();
    return {};
  }

  [[nodiscard]] bool is_watched() const {
    return std::any_of(guests_.begin(), guests_.end(),
                       [](const auto& guest) { return guest->watches; });
  }

  void tell(const std::string& line) {
    for (const auto& guest : std::list(guests_))
      if (guest->watches) tell(guest, line);
  }

  void close() {
    error_code ignored;
    acceptor_.close(ignored);
    retry_.cancel();
    for (const auto& guest : guests_) guest->close();
    guests_.clear();
    if (std::exchange(listens_, false)) ::unlink(path_.c_str());
  }

 private:
  struct Guest {
    explicit Guest(Unix::socket accepted)
        : socket(std::move(accepted)), timer(socket.get_executor()) {}
    void close() {
      error_code ignored;
      socket.close(ignored);
      timer.cancel();
    }
    Unix::socket socket;
    asio::steady_timer timer;
    std::string text;
    bool watches = false;
    std::deque<std::string> untold;  ///< the first is being written
    std::size_t untold_bytes = 0;
    /// Who does not read goes first, and then who has not asked yet, or only waits for an answer.
    [[nodiscard]] int worth() const { return untold.size() > 1 ? 0 : watches ? 2 : 1; }
  };

  void accept() {
    acceptor_.async_accept([self = shared_from_this()](error_code error, Unix::socket socket) {
      if (!self->listens_) return;
      if (error) return self->accept_later();
      self->took(std::move(socket));
      self->accept();
    });
  }

  void accept_later() {
    retry_.expires_after(again_when_exhausted);
    retry_.async_wait([self = shared_from_this()](error_code error) {
      if (!error && self->listens_) self->accept();
    });
  }

  void took(Unix::socket socket) {
    keep_from_children(socket);
    if (guests_.size() >= most_guests) leave(least_wanted());
    const auto guest = guests_.emplace_back(std::make_shared<Guest>(std::move(socket)));
    guest->timer.expires_after(guest_deadline);
    guest->timer.async_wait([self = shared_from_this(), guest](error_code error) {
      if (!error) self->leave(guest);
    });
    asio::async_read_until(guest->socket, asio::dynamic_buffer(guest->text, longest_question), '\n',
                           [self = shared_from_this(), guest](error_code error, std::size_t size) {
                             if (error || !self->listens_) return self->leave(guest);
                             self->answer(guest, size);
                           });
  }

  // The oldest of the least worth; but of those who watch and read the newest.
  [[nodiscard]] std::shared_ptr<Guest> least_wanted() const {
    const auto least = *std::min_element(
        guests_.begin(), guests_.end(),
        [](const auto& one, const auto& other) { return one->worth() < other->worth(); });
    return least->worth() == 2 ? guests_.back() : least;
  }

  void answer(const std::shared_ptr<Guest>& guest, std::size_t size) {
    const auto question = std::string_view(guest->text).substr(0, size - 1);
    const auto end = std::min(question.find(' '), question.size());
    const auto name = question.substr(0, end);
    const bool watches = name == "watch";
    const auto word = words_.find(watches ? "status" : name);
    if (word == words_.end()) return leave(guest);
    const std::string said = word->second(question.substr(std::min(end + 1, question.size())));
    if (watches) return watch(guest, said);
    guest->text = said + "\n";
    asio::async_write(
        guest->socket, asio::buffer(guest->text),
        [self = shared_from_this(), guest](error_code, std::size_t) { self->leave(guest); });
  }

  // It has nothing more to say: whatever can be read is its end.
  void watch(const std::shared_ptr<Guest>& guest, const std::string& status) {
    guest->watches = true;
    guest->timer.cancel();
    guest->socket.async_wait(Unix::socket::wait_read, [self = shared_from_this(),
                                                       guest](error_code) { self->leave(guest); });
    tell(guest, status);
  }

  void tell(const std::shared_ptr<Guest>& guest, const std::string& line) {
    if (guest->untold.size() == most_untold ||
        (!guest->untold.empty() && guest->untold_bytes + line.size() > most_untold_bytes))
      return leave(guest);
    guest->untold_bytes += line.size() + 1;
    guest->untold.push_back(line + "\n");
    if (guest->untold.size() == 1) write(guest);
  }

  void write(const std::shared_ptr<Guest>& guest) {
    asio::async_write(guest->socket, asio::buffer(guest->untold.front()),
                      [self = shared_from_this(), guest](error_code error, std::size_t) {
                        if (error) return self->leave(guest);
                        guest->untold_bytes -= guest->untold.front().size();
                        guest->untold.pop_front();
                        if (!guest->untold.empty()) self->write(guest);
                      });
  }

  void leave(std::shared_ptr<Guest> guest) {
    guest->close();
    guests_.remove(guest);
  }

  asio::any_io_executor executor_;
  std::string path_;
  Words words_;
  Unix::acceptor acceptor_;
  asio::steady_timer retry_;
  std::list<std::shared_ptr<Guest>> guests_;  // the oldest first
  bool listens_ = false;
};

Admin::Admin(asio::any_io_executor executor, std::string path, Words words)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(path), std::move(words))) {}

Admin::~Admin() {
  impl_->close();
}

Expected<> Admin::listen() {
  return impl_->listen();
}
bool Admin::is_watched() const {
  return impl_->is_watched();
}
void Admin::tell(const std::string& line) {
  impl_->tell(line);
}
void Admin::close() {
  impl_->close();
}

}  // namespace muster::net
