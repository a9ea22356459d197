#pragma once

#include <muster/values/address.hpp>
#include <muster/values/types.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <chrono>

namespace muster::net {

using Tcp = boost::asio::ip::tcp;

/// How long nobody is accepted when no descriptor was left.
inline constexpr std::chrono::milliseconds accept_again_after{10};

/// A socket that no program which this process starts will hold open: a listener or a connection
/// that outlived its node in a child would forge life. To be called on every socket, as soon as it
/// is there.
void close_on_exec(int handle);

/// How connections between nodes are set: no delays; bytes that are not acknowledged by the other
/// machine within `bound` end the connection, so that one over a healed link begins anew.
void prepare_stream(Tcp::socket& socket, Duration bound);

}  // namespace muster::net
