// The blocking clients of the admin socket and of the observer's connection, for the command line.

#include <muster/net/admin.hpp>
#include <muster/net/frame.hpp>
#include <muster/net/line_socket.hpp>
#include <muster/values/text.hpp>

#include "tls/tls.hpp"
#include "wire/connection.hpp"
#include "wire/dial.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <utility>

#include <sys/un.h>

namespace muster::net {

namespace asio = boost::asio;
using boost::system::error_code;
using Unix = asio::local::stream_protocol;

namespace {

constexpr std::size_t longest_answer = 1024 * 1024;

Failure timed_out(const std::string& where) {
  return Failure{ExitCode::timed_out,
                 where + " did not answer in time: the node may be paused or very busy"};
}

// The connection of an observer: its Hello, the node's Hello, the question, the answer.
class Observer final : public ConnectionOwner {
 public:
  Observer(asio::io_context& context, std::string address, std::string cluster, Duration bound,
           const Tls& tls)
      : context_(context), address_(std::move(address)), bound_(bound), tls_(tls) {
    nobody_.cluster = std::move(cluster);
  }

  void begin() {
    const auto dial = std::make_shared<Dial>(context_.get_executor(), bound_);
    dial->begin(address_, [this](std::optional<DialEnd> failed, Tcp::socket socket) {
      if (failed)
        return finish(*failed == DialEnd::refused ? nobody("nothing listens there")
                                                  : nobody("the dial got no reply"));
      connection_ = std::make_shared<Connection>(std::move(socket), nobody_.wire, bound_, counters_,
                                                 frame_limit, tls_.channel(Side::dialled));
      connection_->belongs_to(this);
      say(host::hello_of(nobody_, Role::observer, NodeId{}));
      connection_->start();
    });
  }

  std::optional<Expected<std::string>> take_answer() { return std::move(answer_); }
  void give_up() {
    if (connection_) connection_->close();
  }

  void on_frame(Connection&, Frame frame) override {
    if (std::holds_alternative<Hello>(frame)) return say(StatusQuestion{});
    if (auto* status = std::get_if<StatusAnswer>(&frame)) return finish(std::move(status->json));
    const auto* refusal = std::get_if<Refusal>(&frame);
    finish(Failure{ExitCode::bad_configuration,
                   address_ + " refuses to answer: " +
                       (refusal ? presentable(refusal->text, 300) + "; see the log of that node"
                                : "it is not a Muster node")});
  }
  void on_connection_ended(Connection&, ConnectionEnd end, const std::string& why) override {
    if (end == ConnectionEnd::unproven || end == ConnectionEnd::refused)
      return finish(Failure{ExitCode::bad_configuration, address_ + ": " + why});
    finish(nobody(why));
  }
  void writable(Connection&) override {}
  void turn_ended() override {}

 private:
  void say(const Frame& frame) {
    connection_->put(frame);
    connection_->flush();
  }
  Failure nobody(const std::string& why) const {
    return Failure{ExitCode::unreachable, "no node answers at " + address_ + ": " + why};
  }
  void finish(Expected<std::string> answer) {
    if (!answer_) answer_ = std::move(answer);
    give_up();
  }

  asio::io_context& context_;
  std::string address_;
  Duration bound_;
  const Tls& tls_;
  host::Self nobody_;
  Counters counters_;
  std::shared_ptr<Connection> connection_;
  std::optional<Expected<std::string>> answer_;
};

Failure nobody(const std::string& path, const error_code& error) {
  if (error == asio::error::access_denied)
    return Failure{
        ExitCode::unreachable,
        "the node at " + path + " belongs to another user: run this as its owner or as root"};
  return Failure{ExitCode::unreachable,
                 "no node answers at " + path + ": " + error.message() + "; is it running?"};
}

Failure no_answer(const std::string& path, std::string_view word) {
  return Failure{ExitCode::unreachable,
                 "the node at " + path + " closed the connection without an answer to \"" +
                     presentable(word) + "\": it is ending, or runs another version of Muster"};
}

// Connects to the node at that path and sends the question. The question is so short that the
// system takes it without blocking.
Expected<Unix::socket> connect(asio::io_context& context, const std::string& path,
                               std::string_view question) {
  constexpr std::size_t longest_path = sizeof(sockaddr_un::sun_path) - 1;
  if (path.size() > longest_path) {
    return Failure{ExitCode::bad_configuration,
                   "the path " + path + " has " + std::to_string(path.size()) +
                       " bytes, but a socket's path may have at most " +
                       std::to_string(longest_path)};
  }
  Unix::socket socket(context);
  error_code error;
  socket.connect(Unix::endpoint(path), error);
  if (!error) asio::write(socket, asio::buffer(std::string(question) + "\n"), error);
  if (error) return nobody(path, error);
  return socket;
}

}  // namespace

Expected<std::string> ask_admin(const std::string& path, Duration bound, std::string_view word) {
  asio::io_context context(1);
  auto socket = connect(context, path, word);
  if (!socket) return socket.error();
  std::string answer;
  std::optional<error_code> end;
  asio::async_read(*socket, asio::dynamic_buffer(answer, longest_answer),
                   [&](error_code error, std::size_t) { end = error; });
  context.run_for(bound);
  if (!end) return timed_out(path);
  if (*end != asio::error::eof) return nobody(path, *end);
  if (answer.empty() || answer.back() != '\n') return no_answer(path, word);
  answer.pop_back();
  return answer;
}

Expected<> watch_admin(const std::string& path, Duration bound,
                       const std::function<bool(std::string line)>& told) {
  asio::io_context context(1);
  auto socket = connect(context, path, "watch");
  if (!socket) return socket.error();
  const auto lines = std::make_shared<LineSocket>(*std::move(socket));
  bool seen = false;
  std::optional<error_code> end;
  const std::function<void()> next = [&] {
    lines->read(longest_answer, [&](error_code error, std::string line) {
      if (error) return void(end = error);
      seen = told(std::move(line));
      if (!seen) next();
    });
  };
  next();
  context.run_for(bound);
  if (seen) return {};
  if (!end) return timed_out(path);
  return nobody(path, *end);
}

Expected<std::string> ask_observer(const std::string& address, const std::string& cluster,
                                   Duration bound, const Observes& observes) {
  Tls tls;
  if (observes.tls) {
    auto credentials = Credentials::load(*observes.tls, observes.nodes, std::nullopt);
    if (!credentials) return credentials.error();
    tls.renew(*std::move(credentials));
  }
  if (const auto parsed = parse_address(address); !parsed) return parsed.error();
  asio::io_context context(1);
  Observer observer(context, address, cluster, bound, tls);
  observer.begin();
  context.run_for(bound);
  observer.give_up();
  if (auto answer = observer.take_answer()) return *std::move(answer);
  return timed_out(address);
}

}  // namespace muster::net
