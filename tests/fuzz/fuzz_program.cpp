#include "apps/programs/program_socket.hpp"
#include "fuzz/guest.hpp"

#include <muster/net/log.hpp>
#include <muster/permits.hpp>
#include <muster/services.hpp>

#include <boost/json/parse.hpp>

// A program at the application socket. The node sends it every kind of request, and the program
// answers with any bytes.

namespace muster::fuzz {
namespace {

constexpr std::size_t longest_reason = 4000;

/// The services of the node that a program can use. No test calls the others.
struct NoServices final : Services {
  [[nodiscard]] NodeId self() const override { return {}; }
  [[nodiscard]] const NodeSet& nodes() const override { std::abort(); }
  [[nodiscard]] const Permits& permits() const override { std::abort(); }
  void write(CellBatch, std::function<void()>) override {}
  void scan(std::string, std::function<void(std::vector<std::pair<std::string, Bytes>>)>) override {
  }
  void post(std::function<void()>) override {}
  void post_after(Duration, std::function<void()>) override {}
  void elect(std::string why) override { require(why.find('\n') == std::string::npos); }
  void step_down(Duration back_after) override { require(back_after >= Duration::zero()); }
  void show(Shown shown) override { require(!shown.wrong()); }
  void broken(std::string) override {}
  void note(std::string) override {}
};

/// The text of a program can contain any bytes. The reason that it gives for a failure must become
/// one line of a log.
void check(const std::string& why) {
  require(!why.empty() && why.size() <= longest_reason);
  const std::string line = net::log_line(LogFormat::text, LogLevel::warning, NodeId{3}, why);
  require_presentable(std::string_view(line).substr(0, line.size() - 1), longest_reason + 100);
}

template <class Value>
Done<Value> checked() {
  return Done<Value>([](typename Done<Value>::Outcome outcome) {
    if (!outcome) check(outcome.error());
  });
}

void say_to_node(Input& input) {
  boost::asio::io_context context;
  apps::ProgramSocket socket(context.get_executor(),
                             {NodeId{3}, {NodeId{1}, NodeId{3}}, socket_path(), [] {}});
  socket.listen().value();
  NoServices services;
  const auto application = socket.application()(services);
  HookContext told;
  told.listener = [](const std::string& how_far) { require(how_far.size() < 256 * 1024); };
  AskingContext asking{told};
  asking.questioner = [](NodeId member, const Bytes& question, const Answered& answered) {
    require(member == NodeId{1} || member == NodeId{3});
    answered(question);
  };
  const Members members{{NodeId{1}, {}, {Bytes{"held"}, {}, {}, false}}};
  const auto parts = std::make_shared<std::map<NodeId, Bytes>>();
  application->stop({told, {}}, checked<Report>());
  application->reorganize({asking, {7, NodeId{3}}, members, parts}, checked<Definition>());
  application->start({asking, {7, NodeId{3}}, Bytes{"task"}, {NodeId{1}}, {}, {}},
                     checked<std::monostate>());
  application->answer({told, {NodeId{3}, {7, NodeId{3}}, true, Bytes{"how?"}}}, checked<Bytes>());
  {
    Guest program(context);
    if (!input.one_in(8)) program.say("{\"register\":1}\n");
    while (!input.empty()) program.say(input.bytes(input.one_in(4) ? 9 : 4096));
    std::string_view heard = program.heard();
    while (!heard.empty()) {
      const auto end = heard.find('\n');
      require(end != std::string_view::npos);
      boost::json::error_code error;
      boost::json::parse({heard.data(), end}, error);
      require(!error);
      heard.remove_prefix(end + 1);
    }
  }
  if (const auto lost = socket.lost()) check(*lost);
}

}  // namespace
}  // namespace muster::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  muster::fuzz::Input input(data, size);
  muster::fuzz::say_to_node(input);
  return 0;
}
