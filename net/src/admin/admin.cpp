#include <muster/net/admin.hpp>
#include <muster/net/line_socket.hpp>

#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <list>
#include <utility>

namespace muster::net {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_guests = 16;
constexpr std::size_t longest_question = 512;
constexpr std::size_t most_untold = 256;  // the most lines that may wait for one watching client
constexpr std::size_t most_untold_bytes = 1024 * 1024;  // bytes of these lines
constexpr auto guest_deadline = 2s;

}  // namespace

class Admin::Impl : public std::enable_shared_from_this<Admin::Impl> {
 public:
  Impl(const asio::any_io_executor& executor, std::string path, Words words)
      : path_(std::move(path)),
        words_(std::move(words)),
        socket_(executor, [this](UnixSocket socket) { on_connection(std::move(socket)); }) {}

  Expected<> listen() { return socket_.listen(path_); }

  [[nodiscard]] bool is_watched() const {
    return std::any_of(guests_.begin(), guests_.end(),
                       [](const auto& guest) { return guest->watches; });
  }

  void tell(const std::string& line) {
    for (const auto& guest : std::list(guests_))
      if (guest->watches) tell(guest, line);
  }

  void close() {
    socket_.close();
    for (const auto& guest : std::exchange(guests_, {})) guest->close();
  }

 private:
  struct Guest {
    explicit Guest(UnixSocket socket)
        : timer(socket.get_executor()), lines(std::make_shared<LineSocket>(std::move(socket))) {}
    void close() {
      lines->close();
      timer.cancel();
    }
    asio::steady_timer timer;
    std::shared_ptr<LineSocket> lines;
    bool watches = false;
    /// The priority with which a guest keeps its place when places are short. First to go is a
    /// guest that does not read, then one that has not asked yet or waits for its answer. Watching
    /// guests that read go last.
    [[nodiscard]] int worth() const {
      if (lines->untold() > 1) return 0;
      return watches ? 2 : 1;
    }
  };

  void on_connection(UnixSocket socket) {
    if (guests_.size() >= most_guests) leave(least_wanted());
    const auto guest = guests_.emplace_back(std::make_shared<Guest>(std::move(socket)));
    guest->timer.expires_after(guest_deadline);
    guest->timer.async_wait([self = shared_from_this(), guest](error_code error) {
      if (!error) self->leave(guest);
    });
    guest->lines->read(longest_question, [self = shared_from_this(), guest](
                                             error_code error, const std::string& question) {
      if (error) return self->leave(guest);
      self->answer(guest, question);
    });
  }

  // The oldest of the guests with the least worth. If all of them watch and read, it is the newest.
  [[nodiscard]] std::shared_ptr<Guest> least_wanted() const {
    const auto least = *std::min_element(
        guests_.begin(), guests_.end(),
        [](const auto& one, const auto& other) { return one->worth() < other->worth(); });
    return least->worth() == 2 ? guests_.back() : least;
  }

  void answer(const std::shared_ptr<Guest>& guest, std::string_view question) {
    const auto end = std::min(question.find(' '), question.size());
    const auto name = question.substr(0, end);
    const bool watches = name == "watch";
    const auto word = words_.find(watches ? "status" : name);
    if (word == words_.end()) return leave(guest);
    const std::string said = word->second(question.substr(std::min(end + 1, question.size())));
    if (watches) return watch(guest, said);
    guest->lines->tell(said, [self = shared_from_this(), guest] { self->leave(guest); });
  }

  // Starts to watch. A watching guest has nothing more to say, so a further line ends its
  // connection.
  void watch(const std::shared_ptr<Guest>& guest, const std::string& status) {
    guest->watches = true;
    guest->timer.cancel();
    guest->lines->read(
        longest_question,
        [self = shared_from_this(), guest](error_code, const std::string&) { self->leave(guest); });
    tell(guest, status);
  }

  void tell(const std::shared_ptr<Guest>& guest, const std::string& line) {
    const LineSocket& lines = *guest->lines;
    if (lines.untold() == most_untold ||
        (lines.untold() > 0 && lines.untold_bytes() + line.size() > most_untold_bytes))
      return leave(guest);
    guest->lines->tell(line);
  }

  void leave(std::shared_ptr<Guest> guest) {
    guest->close();
    guests_.remove(guest);
  }

  std::string path_;
  Words words_;
  LineListener socket_;
  std::list<std::shared_ptr<Guest>> guests_;  // the oldest first
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
