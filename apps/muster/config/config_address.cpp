#include "apps/muster/config/config.hpp"

#include <arpa/inet.h>

#include <array>

namespace muster::apps {
namespace {

/// The name in lower case, since case does not matter in names. None if it is not a host's name.
std::optional<std::string> host_name(std::string name) {
  constexpr std::size_t longest = 253;
  constexpr std::size_t longest_label = 63;
  if (name.empty() || name.size() > longest) return std::nullopt;
  std::size_t label = 0;
  bool digits_only = true;  // in the last label, which must not be a number
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool letter = (c >= 'a' && c <= 'z') || c == '-' || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (c == '.' ? label == 0 : !letter && !digit) return std::nullopt;
    digits_only = c == '.' || (digits_only && digit);
    label = c == '.' ? 0 : label + 1;
    if (label > longest_label) return std::nullopt;
  }
  if (label == 0 || digits_only) return std::nullopt;
  return name;
}

}  // namespace

std::optional<Address> address_of(const std::string& text) {
  auto address = parse_address(text);
  if (!address || address->port == 0) return std::nullopt;
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  std::array<char, INET6_ADDRSTRLEN> normal{};
  const int family = text.front() == '[' ? AF_INET6 : AF_INET;
  if (inet_pton(family, address->host.c_str(), bytes.data()) == 1) {
    if (inet_ntop(family, bytes.data(), normal.data(), normal.size()) == nullptr)
      return std::nullopt;
    address->host = normal.data();
    return *std::move(address);
  }
  auto name = family == AF_INET ? host_name(address->host) : std::nullopt;
  if (!name) return std::nullopt;
  address->host = *std::move(name);
  return *std::move(address);
}

}  // namespace muster::apps
