#pragma once

#include <muster/values/failure.hpp>

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace MUSTER_EXPORT muster {

/// "host:port" or "[host]:port" in its two parts.
struct Address {
  std::string host;  ///< without brackets
  std::uint16_t port{};

  /// As `parse_address` reads it: "127.0.0.1:7101", "[::1]:7101".
  [[nodiscard]] std::string text() const;
  /// True where no other machine can be meant, as the text has it.
  [[nodiscard]] bool is_loopback() const;

  friend auto operator<=>(const Address&, const Address&) = default;
};

/// The failure says what an address looks like.
Expected<Address> parse_address(std::string_view text);

}  // namespace muster
