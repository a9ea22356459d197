#include "apps/programs/program_socket.hpp"

#include "apps/programs/socket_messages.hpp"

#include <muster/net/line_socket.hpp>
#include <muster/values/json.hpp>
#include <muster/values/one_line.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/serialize.hpp>

#include <map>
#include <mutex>
#include <stop_token>

namespace muster::apps {

namespace asio = boost::asio;
namespace json = boost::json;
using boost::system::error_code;
using net::LineSocket;
using namespace std::chrono_literals;

namespace {

/// Time that a connected program has to register.
constexpr auto registration_deadline = 5s;
/// The most lines that may wait for a program to read them.
constexpr std::size_t most_untold = 1024;

/// The kinds of request to a program.
enum class Asked { stop, reorganize, start, answer };

/// The result of a hook, or why it failed.
using Gave = Said<json::object>;
using Ended = std::function<void(const Gave&)>;

/// A request to the program. The request waits until a program has registered.
struct Call {
  Asked what{};
  json::object told;
  std::stop_token cancelled;
  std::function<void(std::string)> listener;
  Ended on_ended;
  std::optional<AskingContext> asking{};  ///< for a reorganize or a start
  bool sent = false;
  std::optional<std::stop_callback<std::function<void()>>> on_cancel{};
};

/// Completes `done` with the hook's value. `read` makes that value from the program's answer.
template <class Value, class Read>
Ended ending(Done<Value> done, Read read) {
  return [done = std::make_shared<Done<Value>>(std::move(done)), read](const Gave& gave) {
    if (!gave) return done->fail(one_line(gave.error(), longest_reason));
    Said<Value> value = read(*gave);
    if (!value) return done->fail(one_line(value.error(), longest_reason));
    (*done)(std::move(*value));
  };
}

}  // namespace

class ProgramSocket::Impl : public std::enable_shared_from_this<ProgramSocket::Impl> {
 public:
  Impl(asio::any_io_executor executor, Options options)
      : executor_(executor),
        options_(std::move(options)),
        socket_(executor, [this](net::UnixSocket socket) { on_connection(std::move(socket)); }),
        timer_(executor) {}

  [[nodiscard]] NodeId self() const { return options_.self; }

  Expected<> listen() { return socket_.listen(options_.path); }

  void close() {
    socket_.close();
    timer_.cancel();
    if (program_) program_->close();
    program_.reset();
    calls_.clear();
  }

  void await(std::function<void()> registered) {
    asio::post(executor_,
               [self = shared_from_this(), registered = std::move(registered)]() mutable {
                 if (self->registered_) return registered();
                 self->awaited_ = std::move(registered);
               });
  }

  void lose(const std::string& why) {
    asio::post(executor_, [self = shared_from_this(), why] { self->is_lost(why); });
  }

  [[nodiscard]] std::optional<std::string> lost() const {
    const std::lock_guard lock(mutex_);
    return lost_;
  }

  /// Hands a hook to the program. From any thread.
  void hand(Asked what, json::object told, const HookContext& context, Ended on_ended,
            std::optional<AskingContext> asking = {}) {
    const std::shared_ptr<Call> call(new Call{what, std::move(told), context.cancelled,
                                              context.listener, std::move(on_ended),
                                              std::move(asking)});
    asio::post(executor_, [self = shared_from_this(), call] { self->begin(call); });
  }

  /// Sets the services of the present life; null if there is none.
  void present(Services* services) {
    const std::lock_guard lock(mutex_);
    services_ = services;
    if (services_ != nullptr) services_->show(shown_);
  }

  /// The life is over: forgets all calls without an answer.
  void forget() {
    present(nullptr);
    asio::post(executor_, [self = shared_from_this()] {
      self->calls_.clear();
      self->asking_.reset();
    });
  }

 private:
  // --- Connections

  void on_connection(net::UnixSocket socket) {
    const auto connection = std::make_shared<LineSocket>(std::move(socket));
    if (program_) return refuse(*connection, "another program is registered");
    if (const auto why = lost()) return refuse(*connection, *why);
    program_ = connection;
    timer_.expires_after(registration_deadline);
    timer_.async_wait([self = shared_from_this(), connection](error_code error) {
      if (!error && connection == self->program_ && !self->registered_)
        self->end(connection, "it did not register within 5 s");
    });
    read(connection);
  }

  void read(const std::shared_ptr<LineSocket>& connection) {
    connection->read(longest_socket_line, [self = shared_from_this(), connection](
                                              error_code error, const std::string& line) {
      if (connection != self->program_) return;
      if (error == asio::error::not_found)
        return self->end(connection, "it sent a line of more than " +
                                         std::to_string(longest_socket_line) + " bytes");
      if (error) return self->end(connection, {});
      if (const auto wrong = self->take(line))
        return self->end(connection, one_line(*wrong, longest_reason));
      if (connection == self->program_) self->read(connection);
    });
  }

  void write(const json::object& message) { program_->tell(json::serialize(message)); }

  // Sends the reason without waiting, so a program that does not read it in time does not get it.
  static void refuse(LineSocket& connection, const std::string& why) {
    connection.close_with(json::serialize(json::object{{"refused", why}}));
  }

  /// Ends the connection. `wrong` is what the program did wrong; it is empty if the program left.
  void end(const std::shared_ptr<LineSocket>& connection, const std::string& wrong) {
    if (wrong.empty())
      connection->close();
    else
      refuse(*connection, wrong);
    program_.reset();
    if (!std::exchange(registered_, false)) return;
    show({});
    if (options_.gone) return options_.gone();  // `lose` is called later
    const std::string why =
        wrong.empty() ? "its program disconnected" : "its program was disconnected: " + wrong;
    if (at_work_) return is_lost(why);
    for (auto at = calls_.begin(); at != calls_.end();) {
      const auto call = (at++)->second;
      if (call->sent) give(call, {boost::system::in_place_error, why});
    }
  }

  void is_lost(const std::string& why) {
    if (lost()) return;
    const std::string whole = why + (at_work_ ? " while its node was at work" : "");
    {
      const std::lock_guard lock(mutex_);
      lost_ = whole;
    }
    while (!calls_.empty()) give(calls_.begin()->second, {boost::system::in_place_error, whole});
    options_.give_up();
  }

  // --- Messages

  /// Handles a line. Returns what is wrong with it, if anything.
  std::optional<std::string> take(const std::string& line) {
    const auto parsed = parse_line(line);
    if (!parsed) return parsed.error();
    const json::object& said = *parsed;
    if (!registered_) return take_registration(said);
    if (program_->untold() > most_untold) return "it does not read its messages";
    if (const json::value* number = said.if_contains("ask")) return take_question(*number, said);
    if (said.contains("show")) return take_shown(said);
    for (const std::string_view key : {"elect", "step_down_ns", "broken", "note"})
      if (said.contains(key)) return take_request(key, said);
    for (const auto& [key, act] :
         {std::pair{"done", &Impl::take_done}, std::pair{"failed", &Impl::take_failed},
          std::pair{"progress", &Impl::take_progress}}) {
      const json::value* named = said.if_contains(key);
      if (!named) continue;
      const auto ticket = natural_of(*named);
      if (!ticket || *ticket == 0 || *ticket > last_ticket_)
        return std::string(key) + " " + json::serialize(*named) + ": no such ticket was given";
      const auto call = calls_.find(*ticket);
      if (call == calls_.end() || !call->second->sent) return std::nullopt;  // an answer too late
      return (this->*act)(call->second, said);
    }
    return "not a known message: " + line.substr(0, 80);
  }

  std::optional<std::string> take_registration(const json::object& said) {
    const json::value* version = said.if_contains("register");
    if (!version) return "expected {\"register\":2} first";
    version_ = natural_of(*version).value_or(0);
    if (version_ < oldest_socket_version || version_ > socket_version)
      return "it speaks version " + json::serialize(*version) + ", but this node speaks 1 and 2";
    if (auto wrong = unknown_key(said, {"register"})) return wrong;
    if (speaks_old_names() && options_.warn && !std::exchange(warned_, true))
      options_.warn(old_name_warning);
    registered_ = true;
    timer_.cancel();
    json::array nodes;
    for (NodeId node : options_.nodes) nodes.emplace_back(node.value);
    write({{"registered", version_}, {"node", options_.self.value}, {"nodes", nodes}});
    for (const auto& [ticket, call] : calls_) send(*call);
    if (const auto awaited = std::exchange(awaited_, nullptr)) awaited();
    return std::nullopt;
  }

  static std::optional<std::string> unknown_key_at_end(Asked what, const json::object& said) {
    if (what == Asked::stop) return unknown_key(said, {"done", "report"});
    if (what == Asked::reorganize) return unknown_key(said, {"done", "definition", "parts"});
    if (what == Asked::answer) return unknown_key(said, {"done", "answer"});
    return unknown_key(said, {"done"});
  }

  std::optional<std::string> take_done(const std::shared_ptr<Call>& call,
                                       const json::object& said) {
    auto wrong = unknown_key_at_end(call->what, said);
    if (wrong) {
      give(call, {boost::system::in_place_error, *wrong});
      return std::nullopt;
    }
    if (call->what == Asked::stop) at_work_ = false;
    give(call, said);
    return std::nullopt;
  }

  std::optional<std::string> take_failed(const std::shared_ptr<Call>& call,
                                         const json::object& said) {
    const auto why = bytes_under(said, "why");
    give(call, {boost::system::in_place_error,
                why && !why->data.empty() ? why->data : std::string("it gave no reason")});
    return std::nullopt;
  }

  std::optional<std::string> take_progress(const std::shared_ptr<Call>& call,
                                           const json::object& said) {
    const auto text = bytes_under(said, "text");
    if (!text) return text.error();
    if (call->listener) call->listener(text->data);
    return std::nullopt;
  }

  std::optional<std::string> take_question(const json::value& number, const json::object& said) {
    const json::value* to = said.if_contains("member");
    const auto member = read_json<NodeId>(to ? *to : json::value());
    auto question = bytes_under(said, "question");
    if (!natural_of(number) || !member || !options_.nodes.contains(*member))
      return "ask " + json::serialize(number) + ": expected a number, and a node as member";
    if (!question) return question.error();
    const auto answered = [weak = weak_from_this(), program = std::weak_ptr(program_),
                           number](const Done<Bytes>::Outcome& answer) {
      const auto self = weak.lock();
      if (!self) return;
      json::object told{{"answered", number}};
      if (answer)
        told["answer"] = json_of(*answer);
      else
        told["failed"] = answer.error();
      asio::post(self->executor_, [self, program, told = std::move(told)] {
        if (self->program_ && program.lock() == self->program_) self->write(told);
      });
    };
    if (asking_)
      asking_->ask(*member, std::move(*question), answered);
    else
      answered({boost::system::in_place_error, "only reorganize and start may ask"});
    return std::nullopt;
  }

  // A request of the program to the node itself. The request is dropped if there is no life.
  std::optional<std::string> take_request(std::string_view key, const json::object& said) {
    const auto wish = request_of(key, said);
    if (!wish) return wish.error();
    const std::lock_guard lock(mutex_);
    if (services_ != nullptr) (*wish)(*services_);
    return std::nullopt;
  }

  std::optional<std::string> take_shown(const json::object& said) {
    const auto shown = shown_of(said);
    if (!shown) return shown.error();
    show(*shown);
    return std::nullopt;
  }

  // Remembers the state, because the program shows it only once but can outlive a life.
  void show(const Shown& shown) {
    const std::lock_guard lock(mutex_);
    shown_ = shown;
    if (services_ != nullptr) services_->show(shown_);
  }

  [[nodiscard]] bool speaks_old_names() const { return version_ == oldest_socket_version; }

  // --- Calls

  void begin(const std::shared_ptr<Call>& call) {
    if (const auto why = lost()) return call->on_ended({boost::system::in_place_error, *why});
    const std::uint64_t ticket = ++last_ticket_;
    call->told["ticket"] = ticket;
    calls_[ticket] = call;
    call->on_cancel.emplace(call->cancelled, [weak = weak_from_this(), ticket] {
      const auto self = weak.lock();
      if (!self) return;
      asio::post(self->executor_, [self, ticket] { self->cancel(ticket); });
    });
    if (registered_) send(*call);
  }

  void send(Call& call) {
    if (call.what == Asked::start) at_work_ = true;
    if (call.asking) asking_ = call.asking;
    call.sent = true;
    if (speaks_old_names() && call.what == Asked::reorganize)
      call.told["freshest"] = call.told.at("last_assigned");
    write(call.told);
  }

  void cancel(std::uint64_t ticket) {
    const auto call = calls_.find(ticket);
    if (call == calls_.end()) return;
    if (!call->second->sent)
      return give(call->second, {boost::system::in_place_error, "no program has registered"});
    if (program_) write({{"cancel", ticket}});
  }

  void give(std::shared_ptr<Call> call, const Gave& gave) {
    calls_.erase(call->told.at("ticket").to_number<std::uint64_t>());
    call->on_cancel.reset();
    call->on_ended(gave);
  }

  asio::any_io_executor executor_;
  const Options options_;
  net::LineListener socket_;
  asio::steady_timer timer_;  ///< for the registration
  std::shared_ptr<LineSocket> program_;
  bool registered_ = false;        ///< whether `program_` has registered
  std::uint64_t version_ = 0;      ///< the version of that program's messages
  bool warned_ = false;            ///< the warning about the program's old version was given
  std::function<void()> awaited_;  ///< called when a program registers for the first time
  std::map<std::uint64_t, std::shared_ptr<Call>> calls_;
  std::uint64_t last_ticket_ = 0;  ///< counts in all lives together, to recognize late answers
  std::optional<AskingContext> asking_;  ///< the context of the latest reorganize or start
  bool at_work_ = false;                 ///< true from a start until the next stop has ended
  mutable std::mutex mutex_;             // guards the members below
  std::optional<std::string> lost_;
  Services* services_ = nullptr;
  Shown shown_;
};

/// The application of one life.
class ProgramSocket::Handed final : public Application {
 public:
  Handed(std::shared_ptr<Impl> socket, Services& services) : socket_(std::move(socket)) {
    socket_->present(&services);
  }
  ~Handed() override { socket_->forget(); }

  void stop(StopContext context, Done<Report> done) override {
    socket_->hand(Asked::stop, tell(socket_->self(), context), context,
                  ending(std::move(done),
                         [](const json::object& gave) { return bytes_under(gave, "report"); }));
  }

  void reorganize(Reorganization context, Done<Definition> done) override {
    const auto read = [context](const json::object& gave) {
      const auto parts = parts_of(gave);
      if (!parts) return Said<Definition>(boost::system::in_place_error, parts.error());
      for (const auto& [member, part] : *parts) context.give_part(member, part);
      return bytes_under(gave, "definition");
    };
    socket_->hand(Asked::reorganize, tell(socket_->self(), context), context,
                  ending(std::move(done), read), context);
  }

  void start(Assignment context, Done<> done) override {
    socket_->hand(
        Asked::start, tell(socket_->self(), context), context,
        ending(std::move(done), [](const json::object&) { return Said<std::monostate>(); }),
        context);
  }

  void answer(Question question, Done<Bytes> done) override {
    socket_->hand(Asked::answer, tell(socket_->self(), question), question,
                  ending(std::move(done),
                         [](const json::object& gave) { return bytes_under(gave, "answer"); }));
  }

 private:
  std::shared_ptr<Impl> socket_;
};

ProgramSocket::ProgramSocket(asio::any_io_executor executor, Options options)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(options))) {}

ProgramSocket::~ProgramSocket() {
  impl_->close();
}

Expected<> ProgramSocket::listen() {
  return impl_->listen();
}
void ProgramSocket::await(std::function<void()> registered) {
  impl_->await(std::move(registered));
}
void ProgramSocket::lose(const std::string& why) {
  impl_->lose(why);
}
std::optional<std::string> ProgramSocket::lost() const {
  return impl_->lost();
}
MakeApplication ProgramSocket::application() const {
  return [impl = impl_](Services& services) { return std::make_unique<Handed>(impl, services); };
}

}  // namespace muster::apps
