#include "fuzz/guest.hpp"
#include "net/src/admin/parse.hpp"

#include <muster/net/admin.hpp>
#include <muster/net/log.hpp>

#include <boost/json/parse.hpp>

#include <deque>

// Many clients of a node's admin socket. The clients send any bytes, and some of them watch the
// node.

namespace muster::fuzz {
namespace {

constexpr std::size_t most_guests = 16;

/// The owner's reason for an election is written to the log, as text and as JSON.
std::string elect(std::string_view why) {
  const std::string text = net::log_line(LogFormat::text, LogLevel::info, NodeId{3}, why);
  require_presentable(std::string_view(text).substr(0, text.size() - 1));
  const std::string json = net::log_line(LogFormat::json, LogLevel::info, NodeId{3}, why);
  boost::json::error_code error;
  boost::json::parse(json, error);
  require(!error && json.find('\n') == json.size() - 1);
  return "{}";
}

std::string history(std::string_view said) {
  const net::Page page = net::parse_page(said);
  require(page.count <= net::history_page);
  return std::string(page.count, 'x');
}

std::string step_down(std::string_view said) {
  using namespace std::chrono_literals;
  const auto time = net::parse_time(said);
  require(!time || (*time >= 0s && *time <= 365 * 24h));
  return time ? "{}" : "{\"refused\":\"expected a time in nanoseconds\"}";
}

void ask(Input& input) {
  boost::asio::io_context context;
  net::Admin admin(context.get_executor(), socket_path(),
                   {{"status", [](auto) { return std::string("{}"); }},
                    {"history", history},
                    {"elect", elect},
                    {"step-down", step_down}});
  admin.listen().value();
  std::deque<Guest> guests;
  while (!input.empty()) {
    const std::size_t choice = input.below(8);
    if (guests.empty() || choice == 0) {
      if (guests.size() < 2 * most_guests) guests.emplace_back(context);
    } else if (choice == 1) {
      admin.tell(std::string(input.byte() * std::size_t{4096}, 'x'));
    } else if (choice == 2) {
      guests.pop_front();
    } else {
      guests[input.below(guests.size())].say(input.bytes(input.byte()));
    }
  }
  for (Guest& guest : guests) require(guest.heard().size() < 16 * 1024 * 1024);
  guests.clear();
  require(!admin.is_watched());
}

}  // namespace
}  // namespace muster::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  muster::fuzz::Input input(data, size);
  muster::fuzz::ask(input);
  return 0;
}
