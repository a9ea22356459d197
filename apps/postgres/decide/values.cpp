#include "apps/postgres/decide/values.hpp"

#include <charconv>
#include <limits>

namespace muster::postgres {

namespace {

void append_hexadecimal(std::string& out, std::uint64_t number) {
  char digits[16];
  char* end = std::to_chars(digits, digits + sizeof digits, number, 16).ptr;
  for (const char* at = digits; at != end; ++at)
    out += *at >= 'a' ? static_cast<char>(*at - 'a' + 'A') : *at;
}

// Up to eight digits, and nothing else.
std::optional<std::uint32_t> parse_half(std::string_view text) {
  std::uint32_t number{};
  const char* end = text.data() + text.size();
  if (text.empty() || text.size() > 8) return std::nullopt;
  const auto [at, error] = std::from_chars(text.data(), end, number, 16);
  if (error != std::errc{} || at != end) return std::nullopt;
  return number;
}

}  // namespace

std::string to_words(const Copies& copies) {
  std::string nodes;
  for (NodeId node : copies.nodes)
    nodes += (nodes.empty() ? "" : ", ") + std::to_string(node.value);
  return "generation " + std::to_string(copies.generation) + ", nodes " + nodes +
         " with copies = " + std::to_string(copies.of_commit);
}

std::string to_text(Lsn lsn) {
  std::string out;
  append_hexadecimal(out, lsn.value >> 32);
  out += '/';
  append_hexadecimal(out, lsn.value & std::numeric_limits<std::uint32_t>::max());
  return out;
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
