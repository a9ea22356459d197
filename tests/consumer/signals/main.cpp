// PROGRAM PORT: runs until its own signal_set receives SIGTERM.
#include "cluster.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <string>

namespace asio = boost::asio;

namespace {

// Asio compares error categories by address, so two copies of Asio do not recognize each other's
// errors.
bool knows_the_end_of_a_stream(asio::io_context& context) {
  asio::local::stream_protocol::socket here(context), there(context);
  asio::local::connect_pair(here, there);
  there.close();
  char byte{};
  boost::system::error_code error;
  here.read_some(asio::buffer(&byte, 1), error);
  return error == asio::error::eof;
}

}  // namespace

int main(int, char** arguments) {
  asio::io_context context;
  if (!knows_the_end_of_a_stream(context)) return 1;
  Cluster cluster(context, static_cast<unsigned short>(std::stoul(arguments[1])));
  asio::signal_set signals(context, SIGTERM);
  signals.async_wait([&](auto, int) { cluster.leave([&] { context.stop(); }); });
  context.run();
}
