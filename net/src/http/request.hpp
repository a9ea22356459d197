#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// The requests and answers of the HTTP server, as values.

namespace muster::net::http {

/// The most bytes of a request's head. A body is ignored.
inline constexpr std::size_t longest_request = 8 * 1024;

/// The head of a request.
struct Request {
  std::string method;
  std::string path;   ///< "/history", without a '?' and the text after it
  std::string query;  ///< the text after the '?'
  std::string accept;
  std::optional<std::string> host;  ///< none if the request has no Host, or several
  bool demands_host = false;        ///< true for HTTP/1.1, and for a request with several Hosts
};

/// Parses a complete head, including its empty last line. None if the head is not valid.
std::optional<Request> parse_request(std::string_view head);

/// The value of that key in a query; empty: there is none.
std::string_view query_value(std::string_view query, std::string_view key);

/// The answer to a request.
struct Answer {
  unsigned status = 200;
  std::string body{};
  std::string type = "text/plain; charset=utf-8";
  std::string headers{};  ///< further headers, each with its line's end
};

/// The bytes of an answer. `Content-Length` is the length of the body even if the body is left out.
std::string bytes_of(const Answer& answer, bool with_body);

/// True if a request for this host cannot come from a page of another site (DNS rebinding). In that
/// attack a site lets its own name resolve to this machine, so that the browser lets its pages read
/// the answers. The request then has the attacker's name as its Host. So the host has to be a
/// numeric address, "localhost", or one of the node's own names. No name server can give a numeric
/// address to another site.
bool is_own_host(std::string_view host, std::string_view listen, std::string_view address);

}  // namespace muster::net::http
