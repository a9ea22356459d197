#pragma once

#include <muster/values/failure.hpp>

#include <string>
#include <string_view>

namespace muster {

/// "host:port" or "[host]:port" in its two parts.
struct Address {
  std::string host;
  std::string port;

  /// True where no other machine can be meant, as the text has it.
  [[nodiscard]] bool is_loopback() const;
};

/// The failure says what an address looks like.
Expected<Address> parse_address(std::string_view text);

}  // namespace muster
