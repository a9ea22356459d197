#include "admin/parse.hpp"

#include <algorithm>
#include <charconv>

namespace muster::net {

std::optional<Duration> parse_time(std::string_view text) {
  using namespace std::chrono_literals;
  Duration::rep number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number <= Duration(365 * 24h).count() ? std::optional(Duration(number)) : std::nullopt;
}

Page parse_page(std::string_view said) {
  Page page;
  std::uint64_t before{};
  const char* const end = said.data() + said.size();
  const auto counted = std::from_chars(said.data(), end, page.count);
  if (counted.ptr != end && *counted.ptr == ' ' &&
      std::from_chars(counted.ptr + 1, end, before).ec == std::errc{})
    page.before = before;
  page.count = std::min(page.count, history_page);
  return page;
}

}  // namespace muster::net
