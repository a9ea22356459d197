#include "http/request.hpp"

#include <muster/values/address.hpp>

// Only this file uses Beast, to parse requests. Beast takes long to compile.
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <ctime>

namespace muster::net::http {

namespace beast = boost::beast::http;

namespace {

std::string text(boost::beast::string_view view) {
  return {view.data(), view.size()};
}

std::string date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 64> out{};
  return {out.data(), std::strftime(out.data(), out.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

/// Returns "host" for "host:port" and for "[host]:port", and any other text as it is.
std::string host_in(std::string_view named) {
  const auto address = parse_address(named);
  if (address) return address->host;
  if (named.starts_with('[') && named.ends_with(']')) named = named.substr(1, named.size() - 2);
  return std::string(named);
}

std::string in_small_letters(std::string name) {
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return name;
}

bool is_numeric(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

}  // namespace

std::optional<Request> parse_request(std::string_view head) {
  beast::request_parser<beast::empty_body> parser;
  parser.header_limit(longest_request);
  parser.body_limit(boost::none);
  parser.skip(true);
  boost::system::error_code error;
  parser.put(boost::asio::buffer(head), error);
  if (error || !parser.is_header_done()) return std::nullopt;
  const auto& said = parser.get();
  Request request;
  request.method = text(said.method_string());
  request.path = text(said.target());
  request.accept = text(said[beast::field::accept]);
  const std::size_t hosts = said.count(beast::field::host);
  request.demands_host = said.version() > 10 || hosts > 1;
  if (hosts == 1) request.host = text(said[beast::field::host]);
  const std::size_t end = std::min(request.path.find('?'), request.path.size());
  if (end < request.path.size()) request.query = request.path.substr(end + 1);
  request.path.resize(end);
  return request;
}

std::string_view query_value(std::string_view query, std::string_view key) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    if (pair.starts_with(key) && pair.substr(key.size()).starts_with('='))
      return pair.substr(key.size() + 1);
  }
  return {};
}

std::string bytes_of(const Answer& answer, bool with_body) {
  std::string out = "HTTP/1.1 " + std::to_string(answer.status) + ' ' +
                    text(beast::obsolete_reason(beast::int_to_status(answer.status))) +
                    "\r\nDate: " + date() + "\r\nContent-Type: " + answer.type +
                    "\r\nContent-Length: " + std::to_string(answer.body.size()) +
                    "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                    "Connection: close\r\n" +
                    answer.headers + "\r\n";
  if (with_body) out += answer.body;
  return out;
}

bool is_own_host(std::string_view host, std::string_view listen, std::string_view address) {
  const std::string named = in_small_letters(host_in(host));
  return is_numeric(named) || named == "localhost" || named == in_small_letters(host_in(listen)) ||
         named == in_small_letters(host_in(address));
}

}  // namespace muster::net::http
