#include "apps/base/text.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <limits>

namespace muster::apps {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

// The units, the largest first.
constexpr std::array<Unit, 6> duration_units{{{"min", 60'000'000'000},
                                              {"m", 60'000'000'000},
                                              {"s", 1'000'000'000},
                                              {"ms", 1'000'000},
                                              {"us", 1'000},
                                              {"ns", 1}}};
constexpr std::array<Unit, 7> size_units{{{"GiB", 1ULL << 30},
                                          {"GB", 1'000'000'000},
                                          {"MiB", 1ULL << 20},
                                          {"MB", 1'000'000},
                                          {"KiB", 1ULL << 10},
                                          {"KB", 1'000},
                                          {"B", 1}}};

template <std::size_t N>
std::optional<std::uint64_t> parse(std::string_view text, const std::array<Unit, N>& units) {
  const auto end = text.find_first_not_of("0123456789");
  if (end == std::string_view::npos) return std::nullopt;
  const auto number = parse_number(text.substr(0, end));
  if (!number) return std::nullopt;
  for (const Unit& unit : units) {
    if (text.substr(end) != unit.name) continue;
    const auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (*number > limit / unit.factor) return std::nullopt;
    return *number * unit.factor;
  }
  return std::nullopt;
}

template <std::size_t N>
std::string format(std::uint64_t value, const std::array<Unit, N>& units) {
  for (const Unit& unit : units) {
    if (value >= unit.factor && value % unit.factor == 0) {
      return std::to_string(value / unit.factor) + std::string(unit.name);
    }
  }
  return std::to_string(value) + std::string(units.back().name);
}

std::string decimal(double value, int digits) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
  return buffer.data();
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  const auto value = parse(text, duration_units);
  if (!value) return std::nullopt;
  return Duration(static_cast<Duration::rep>(*value));
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  return parse(text, size_units);
}

std::string format_size(std::uint64_t bytes) {
  return format(bytes, size_units);
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  std::uint64_t value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string format_ms(Duration duration) {
  return decimal(static_cast<double>(duration.count()) / 1e6, 1);
}

std::string format_seconds(Duration duration) {
  return decimal(static_cast<double>(duration.count()) / 1e9, 3);
}

std::string format_nodes(const NodeSet& nodes) {
  std::string text;
  for (NodeId node : nodes) {
    if (!text.empty()) text += ' ';
    text += std::to_string(node.value);
  }
  return text;
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  std::string text = std::to_string(count) + ' ';
  if (count == 1 || many.empty())
    text.append(one).append(count == 1 ? "" : "s");
  else
    text.append(many);
  return text;
}

bool is_cluster_name(std::string_view text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !text.empty() && text.size() <= 64 &&
         text.find_first_not_of(plain) == std::string_view::npos;
}

std::string shell_word(const std::string& text) {
  constexpr const char* plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./,:=+@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string word = "'";
  for (const char letter : text) word += letter == '\'' ? "'\\''" : std::string(1, letter);
  return word + '\'';
}

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace muster::apps
