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

/// Answers by HTTP, one request a connection, on the thread of its executor. All of it is bounded:
/// connections, the bytes of a request, and the time that the other side may take for anything.
class Server {
 public:
  /// `answer` is given what was asked by GET, HEAD or OPTIONS, and by somebody who may: where there
  /// is `tls` it is HTTPS, and who asks has to prove to be a node or an observer; where there is
  /// none, `is_own` has to be true of the host that was asked.
  struct Handlers {
    std::function<Answer(const Request&)> answer;
    std::function<bool(const std::string& host)> is_own;
  };
  Server(boost::asio::any_io_executor executor, std::shared_ptr<const Tls> tls, Handlers handlers);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  /// Fails as a node does that cannot listen.
  Expected<> listen(const std::string& address);
  /// Ends all.
  void close();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace muster::net::http
