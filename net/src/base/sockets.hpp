#pragma once

#include <muster/values/address.hpp>
#include <muster/values/types.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>

#include <chrono>

namespace muster::net {

using Tcp = boost::asio::ip::tcp;

/// The time until accepting or dialling is tried again when no descriptor is free.
inline constexpr std::chrono::milliseconds again_when_exhausted{10};

/// True if the process or the system has no free descriptor, or no memory for another socket. The
/// fault is on this side, and says nothing about any other node.
[[nodiscard]] bool is_exhausted(const boost::system::error_code& error);

/// The advice if no descriptor is free, as the end of a sentence.
inline constexpr const char* no_descriptors =
    "no file descriptor is left: raise the limit (ulimit -n) or end processes that hold many, then "
    "start the node again";

/// Keeps programs that this process starts from inheriting a socket. A listener or connection that
/// survived its node in a child process would make peers believe that the node lives. Call it for
/// every socket, as soon as it exists.
void close_on_exec(int handle);

/// Sets the options of a connection between nodes. Small packets are sent at once. If the other
/// machine does not acknowledge bytes within `bound`, the connection ends, so that a new one can be
/// made when the link works again.
void prepare_stream(Tcp::socket& socket, Duration bound);

}  // namespace muster::net
