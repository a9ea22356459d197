#pragma once

#include "http/request.hpp"

#include <muster/values/failure.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <string>

namespace muster::net {
class Tls;
}

namespace muster::net::http {

/// An HTTP server with one request for each connection, on the thread of its executor. Everything
/// is bounded: the connections, the bytes of a request, and each wait for the other side.
class Server {
 public:
  /// `answer` receives each permitted GET, HEAD or OPTIONS request. With `tls` the server uses
  /// HTTPS, and the client has to prove that it is a node or an observer. Without `tls`, `is_own`
  /// has to be true for the host in the request.
  struct Handlers {
    std::function<Answer(const Request&)> answer;
    std::function<bool(const std::string& host)> is_own;
  };
  Server(boost::asio::any_io_executor executor, std::shared_ptr<const Tls> tls, Handlers handlers);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  /// Fails with the same failures as a node that cannot listen.
  Expected<> listen(const std::string& address);
  /// Ends all connections and stops listening.
  void close();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace muster::net::http
