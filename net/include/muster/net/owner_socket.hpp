#pragma once

#include <muster/values/failure.hpp>

#include <boost/asio/local/stream_protocol.hpp>

#include <string>

namespace muster::net {

/// Opens the acceptor on a Unix socket at `path`, for the owner of this process alone (0600), in
/// place of one that a dead process left. Fails with `bad_configuration` when the path is longer
/// than the system can have or is no socket. No program that this process starts will hold it open.
Expected<> listen_for_owner(boost::asio::local::stream_protocol::acceptor& acceptor,
                            const std::string& path);

/// The same for a connection that was accepted there.
void keep_from_children(boost::asio::local::stream_protocol::socket& socket);

}  // namespace muster::net
