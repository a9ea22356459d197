#include "styles.hpp"

#include "net/node/cluster.hpp"

#include "apps/programs/program_socket.hpp"
#include "apps/programs/socket_messages.hpp"

#include <muster/values/json.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <thread>

namespace muster::test {

namespace {

namespace asio = boost::asio;
namespace json = boost::json;

class Program {
 public:
  Program(Player& player, const std::string& path) : player_(player), socket_(context_) {
    socket_.connect(asio::local::stream_protocol::endpoint(path));
    say({{"register", 2}});
  }

  void run() {
    boost::system::error_code error;
    std::string text;
    while (true) {
      const std::size_t size = asio::read_until(socket_, asio::dynamic_buffer(text), '\n', error);
      if (error) return;
      take(json::parse(text.substr(0, size)).as_object());
      text.erase(0, size);
    }
  }

 private:
  void say(const json::object& message) {
    boost::system::error_code ignored;
    asio::write(socket_, asio::buffer(json::serialize(message) + "\n"), ignored);
  }

  void take(const json::object& told) {
    if (const json::value* ticket = told.if_contains("cancel")) {
      if (!late_.empty() && late_.at("done") == *ticket) end(std::exchange(late_, {}));
    } else if (const json::value* hook = told.if_contains("hook")) {
      take(hook->as_string(), told);
    }
  }

  void take(std::string_view hook, const json::object& told) {
    const std::uint64_t ticket = *apps::natural_of(told.at("ticket"));
    if (hook == "stop") {
      StopContext context;
      context.group = read_json<std::optional<GroupNumber>>(told.at("group")).value();
      const Act act = player_.stop(context);
      return act_out(act, ticket, {{"report", apps::json_of({player_.report(act)})}});
    }
    const GroupNumber group = read_json<GroupNumber>(told.at("group")).value();
    if (hook == "reorganize") {
      Reorganization all;
      all.group = group;
      for (const json::value& one : told.at("members").as_array()) {
        Member member;
        member.node = read_json<NodeId>(one.at("node")).value();
        member.holdings.report = *apps::bytes_of(one.at("report"));
        all.members.push_back(member);
      }
      const Act act = player_.reorganize(all);
      return act_out(act, ticket,
                     {{"definition", apps::json_of({Player::definition(act, group)})}});
    }
    Assignment assignment;
    assignment.group = group;
    assignment.definition = *apps::bytes_of(told.at("definition"));
    act_out(player_.start(assignment), ticket, {});
  }

  void act_out(Act act, std::uint64_t ticket, json::object gives) {
    gives["done"] = ticket;
    if (act == Act::throws) return end({{"failed", ticket}, {"why", thrown}});
    if (act == Act::waits)
      late_ = std::move(gives);
    else
      end(gives);
  }

  void end(const json::object& message) {
    player_.ends();
    say(message);
  }

  Player& player_;
  asio::io_context context_;
  asio::local::stream_protocol::socket socket_;
  json::object late_;  ///< the reply that is sent when the hook is cancelled
};

class Programmed final : public Application {
 public:
  Programmed(Script& script, Services& services)
      : player_(script, services),
        socket_(std::make_unique<apps::ProgramSocket>(
            running_.context.get_executor(),
            apps::ProgramSocket::Options{services.self(), services.nodes(), path(), [] {}})) {
    socket_->listen().value();
    handed_ = socket_->application()(services);
    thread_ =
        std::thread([program = std::make_shared<Program>(player_, path())] { program->run(); });
  }
  ~Programmed() override {
    handed_.reset();
    running_.halt();
    socket_.reset();  // the program sees the end of its stream
    thread_.join();
  }

  void stop(StopContext context, Done<Report> done) override {
    handed_->stop(std::move(context), std::move(done));
  }
  void reorganize(Reorganization all, Done<Definition> done) override {
    handed_->reorganize(std::move(all), std::move(done));
  }
  void start(Assignment assignment, Done<> done) override {
    handed_->start(std::move(assignment), std::move(done));
  }

 private:
  [[nodiscard]] std::string path() const { return directory_.path() / "application.sock"; }

  TemporaryDirectory directory_;
  Player player_;
  Running running_;
  std::unique_ptr<apps::ProgramSocket> socket_;
  std::thread thread_;
  std::unique_ptr<Application> handed_;
};

}  // namespace

std::unique_ptr<Application> programmed(Script& script, Services& services) {
  return std::make_unique<Programmed>(script, services);
}

}  // namespace muster::test
