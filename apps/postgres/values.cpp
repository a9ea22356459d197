#include "apps/postgres/values.hpp"

#include <array>
#include <charconv>
#include <cstdio>

namespace muster::postgres {
namespace {

std::optional<std::uint32_t> parse_half(std::string_view text) {
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, 16);
  if (error != std::errc{} || at != end) return std::nullopt;
  return value;
}

}  // namespace

std::string to_text(Lsn lsn) {
  std::array<char, 24> text{};
  const int size =
      std::snprintf(text.data(), text.size(), "%X/%X", static_cast<unsigned>(lsn.value >> 32),
                    static_cast<unsigned>(lsn.value & 0xffffffffU));
  return {text.data(), static_cast<std::size_t>(size)};
}

std::optional<Lsn> parse_lsn(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto high = parse_half(text.substr(0, slash));
  const auto low = parse_half(text.substr(slash + 1));
  if (!high || !low) return std::nullopt;
  return Lsn{std::uint64_t{*high} << 32 | *low};
}

}  // namespace muster::postgres
