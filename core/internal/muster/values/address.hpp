#pragma once

#include <muster/values/failure.hpp>

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace MUSTER_EXPORT muster {

/// The two parts of "host:port" or "[host]:port".
struct Address {
  std::string host;  ///< without brackets
  std::uint16_t port{};

  /// The text that `parse_address` reads: "127.0.0.1:7101", "[::1]:7101".
  [[nodiscard]] std::string text() const;
  /// True if the text can only mean this machine.
  [[nodiscard]] bool is_loopback() const;

  friend auto operator<=>(const Address&, const Address&) = default;
};

/// Parses an address. The failure shows the form of an address.
Expected<Address> parse_address(std::string_view text);

}  // namespace muster
