#include "fuzz/input.hpp"
#include "net/src/http/request.hpp"

/// Property: reading the head of a request gives an error, or a value in which each field is one
/// line. A Host that the node accepts as its own is a numeric address or one of three names.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  fuzz::Input input(data, size);
  const std::string head = std::string(input.bytes(size)) + "\r\n\r\n";
  const auto request = net::http::parse_request(head.substr(0, net::http::longest_request));
  if (!request) return 0;
  const auto in_one_line = [](const std::string& text) {
    fuzz::require(text.find_first_of("\r\n") == std::string::npos);
  };
  for (const auto* text : {&request->method, &request->path, &request->query, &request->accept})
    in_one_line(*text);
  in_one_line(std::string(net::http::query_value(request->query, "limit")));
  if (!request->host) return 0;
  in_one_line(*request->host);
  if (net::http::is_own_host(*request->host, "one:9100", "[::1]:7101"))
    fuzz::require(request->host->find_first_not_of("0123456789abcdefABCDEFlohstLOHSTnN.:[]") ==
                  std::string::npos);
  return 0;
}
