#pragma once

#include <muster/net/node.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include <optional>
#include <string>

namespace muster::net {

/// What keeps a node with these options from beginning, as one sentence; none: nothing.
std::optional<std::string> misfit_of(const NodeOptions& options);
/// The same for what it is given beside them; `context` is the protocol's.
std::optional<std::string> misfit_of(const SafeStorage* store,
                                     const MakeApplication& make_application,
                                     const boost::asio::any_io_executor& hooks,
                                     const boost::asio::execution_context& context);
/// The same for a place where it tells by HTTP.
std::optional<std::string> misfit_of(const HttpOptions& http, bool has_tls);

}  // namespace muster::net
