#pragma once

#include <muster/net/node.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include <optional>
#include <string>

namespace muster::net {

/// The reason why a node cannot begin with these options, as one sentence. None if it can begin.
std::optional<std::string> misfit_of(const NodeOptions& options);
/// The reason why a node cannot begin with these other arguments. `context` runs the protocol.
std::optional<std::string> misfit_of(const SafeStorage* store,
                                     const MakeApplication& make_application,
                                     const boost::asio::any_io_executor& hooks,
                                     const boost::asio::execution_context& context);
/// The reason why a node cannot begin with these options of its HTTP server.
std::optional<std::string> misfit_of(const HttpOptions& http, bool has_tls);

}  // namespace muster::net
