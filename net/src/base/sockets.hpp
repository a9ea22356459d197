#pragma once

#include <muster/values/address.hpp>
#include <muster/values/types.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>

namespace muster::net {

using Tcp = boost::asio::ip::tcp;

/// How long nobody is accepted or dialled when no descriptor was left.
inline constexpr std::chrono::milliseconds again_when_exhausted{10};

/// True where the process, or the system, can have no more descriptors or has no memory for another
/// socket: a matter of this side alone, which says nothing of any other node.
[[nodiscard]] bool is_exhausted(const boost::system::error_code& error);

/// What to do then, as the end of a sentence.
inline constexpr const char* no_descriptors =
    "no descriptor is left for it: raise the limit (ulimit -n), or end what holds them, then start "
    "the node again";

/// A socket that no program which this process starts will hold open: a listener or a connection
/// that outlived its node in a child would forge life. To be called on every socket, as soon as it
/// is there.
void close_on_exec(int handle);

/// How connections between nodes are set: no delays; bytes that are not acknowledged by the other
/// machine within `bound` end the connection, so that one over a healed link begins anew.
void prepare_stream(Tcp::socket& socket, Duration bound);

}  // namespace muster::net
