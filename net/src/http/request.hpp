#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// What is asked by HTTP, and what is answered, as values.

namespace muster::net::http {

/// The most bytes of a request, whose body is not looked at.
inline constexpr std::size_t longest_request = 8 * 1024;

/// The head of a request.
struct Request {
  std::string method;
  std::string path;   ///< "/history", without what follows a '?'
  std::string query;  ///< that
  std::string accept;
  std::optional<std::string> host;  ///< none where it names none, or several
  bool demands_host = false;        ///< by its version of HTTP, or as it names several
};

/// Reads a head that has come whole, with the empty line at its end; none where it is no such.
std::optional<Request> parse_request(std::string_view head);

/// What stands in a query under that key; empty where nothing does.
std::string_view query_value(std::string_view query, std::string_view key);

/// What is answered.
struct Answer {
  unsigned status = 200;
  std::string body{};
  std::string type = "text/plain; charset=utf-8";
  std::string headers{};  ///< further ones, each with its line's end
};

/// Its bytes: with the length of the body, and without the body where only the head is wanted.
std::string bytes_of(const Answer& answer, bool with_body);

/// True where a page that a stranger's name led to could not have asked: the host is a numeric
/// address, "localhost", or one of the names that the node goes by. Numbers no name server can give
/// away; of names one that its owner lets resolve to this machine (DNS rebinding) would be an
/// origin of its own, whose pages might read what is answered.
bool is_own_host(std::string_view host, std::string_view listen, std::string_view address);

}  // namespace muster::net::http
