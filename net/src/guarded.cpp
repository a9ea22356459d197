#include "guarded.hpp"

#include "sockets.hpp"

#include <boost/system/system_error.hpp>

#include <string>
#include <system_error>

namespace muster::net {

std::optional<Failure> shortage(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return Failure{ExitCode::io_error,
                   "there is no memory left: see what holds it, or give the node more, then start "
                   "it again"};
  boost::system::error_code code;
  if (const auto* one = dynamic_cast<const boost::system::system_error*>(&error))
    code = one->code();
  if (const auto* one = dynamic_cast<const std::system_error*>(&error)) code = one->code();
  if (code == boost::system::errc::resource_unavailable_try_again)
    return Failure{ExitCode::io_error,
                   std::string("no thread is left (") + error.what() +
                       "): raise the limit (ulimit -u), or end what holds them, then start the "
                       "node again"};
  if (is_exhausted(code))
    return Failure{ExitCode::io_error, std::string(error.what()) + ": " + no_descriptors};
  return std::nullopt;
}

}  // namespace muster::net
