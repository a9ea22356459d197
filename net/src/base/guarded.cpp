#include "base/guarded.hpp"

#include "base/sockets.hpp"

#include <boost/system/system_error.hpp>

#include <string>
#include <system_error>

namespace muster::net {

std::optional<Failure> shortage(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return Failure{ExitCode::io_error,
                   "there is no memory left: find out what uses it, or give the node more, then "
                   "start the node again"};
  boost::system::error_code code;
  if (const auto* one = dynamic_cast<const boost::system::system_error*>(&error))
    code = one->code();
  if (const auto* one = dynamic_cast<const std::system_error*>(&error)) code = one->code();
  if (code == boost::system::errc::resource_unavailable_try_again)
    return Failure{ExitCode::io_error, std::string("no thread is left (") + error.what() +
                                           "): raise the limit (ulimit -u) or end processes with "
                                           "many threads, then start the node again"};
  if (is_exhausted(code))
    return Failure{ExitCode::io_error, std::string(error.what()) + ": " + no_descriptors};
  return std::nullopt;
}

Failure left_a_handler(const std::string& node, const std::exception* error) {
  if (auto missing = error ? shortage(*error) : std::nullopt)
    return {missing->code, node + ": " + missing->what};
  const std::string what = error ? error->what() : "something that is no std::exception";
  return {ExitCode::impossible_state,
          node + ": a handler threw: " + what + "; please report it with the end of its journal"};
}

}  // namespace muster::net
