#include <muster/values/address.hpp>

#include <algorithm>

namespace muster {

bool Address::is_loopback() const {
  const bool of_127 =
      host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos;
  return of_127 || host == "::1" || host == "localhost";
}

std::string Address::text() const {
  const bool six = host.find(':') != std::string::npos;
  return (six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

namespace {

// True if the text has only characters of host names and addresses, including IPv6 zones.
bool may_be_host(std::string_view host) {
  const auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("._-:%").find(c) != std::string_view::npos;
  };
  return !host.empty() && !host.starts_with('-') && std::all_of(host.begin(), host.end(), fits);
}

}  // namespace

Expected<Address> parse_address(std::string_view text) {
  const auto bad = [&] {
    return Failure{ExitCode::bad_configuration,
                   "the address \"" + std::string(text) +
                       "\" is not valid: write host:port, like 127.0.0.1:7101 or [::1]:7101"};
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad();
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return bad();
  }
  const bool digits = port.size() <= 5 && std::all_of(port.begin(), port.end(),
                                                      [](char c) { return c >= '0' && c <= '9'; });
  if (!may_be_host(host) || port.empty() || !digits) return bad();
  const unsigned long number = std::stoul(std::string(port));
  if (number > 65'535) return bad();
  return Address{std::string(host), static_cast<std::uint16_t>(number)};
}

}  // namespace muster
