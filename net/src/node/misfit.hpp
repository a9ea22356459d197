#pragma once

#include <muster/net/node.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include <optional>
#include <string>

namespace muster::net {

/// One sentence that says why a node cannot begin with these options; none: it can.
std::optional<std::string> misfit_of(const NodeOptions& options);
/// The same for the other arguments of a node. `context` is the one that runs the protocol.
std::optional<std::string> misfit_of(const SafeStorage* store,
                                     const MakeApplication& make_application,
                                     const boost::asio::any_io_executor& hooks,
                                     const boost::asio::execution_context& context);
/// The same for its HTTP options.
std::optional<std::string> misfit_of(const HttpOptions& http, bool has_tls);

}  // namespace muster::net
