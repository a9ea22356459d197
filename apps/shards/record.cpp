#include "apps/shards/record.hpp"

#include <muster/values/json.hpp>

#include <boost/json/parse.hpp>

#include <array>
#include <charconv>
#include <limits>

namespace muster::apps {
namespace {

// Wide enough for every number of 64 bits. So the order of keys is the order of the numbers.
constexpr std::size_t shard_digits = 10;
constexpr std::size_t number_digits = 20;

void append_padded(std::string& out, std::uint64_t number, std::size_t digits) {
  const std::string text = std::to_string(number);
  out.append(digits - std::min(digits, text.size()), '0').append(text);
}

/// Parses `digits` digits, and the slash after them if there is one.
template <class T>
bool take_padded(std::string_view& from, std::size_t digits, T& to) {
  if (from.size() < digits) return false;
  const char* end = from.data() + digits;
  const auto [stopped, error] = std::from_chars(from.data(), end, to);
  if (error != std::errc{} || stopped != end) return false;
  from.remove_prefix(digits);
  if (from.empty()) return true;
  if (from.front() != '/' || from.size() == 1) return false;
  from.remove_prefix(1);
  return true;
}

}  // namespace

std::string record_key(const Record& record) {
  std::string key(record_prefix);
  append_padded(key, record.shard, shard_digits);
  key += '/';
  append_padded(key, record.group.counter, number_digits);
  key += '/';
  append_padded(key, record.group.coordinator.value, shard_digits);
  key += '/';
  append_padded(key, record.sequence, number_digits);
  return key;
}

std::optional<Record> parse_record_key(std::string_view key, NodeId node) {
  if (!key.starts_with(record_prefix)) return std::nullopt;
  key.remove_prefix(record_prefix.size());
  Record record;
  record.node = node;
  const bool well = take_padded(key, shard_digits, record.shard) &&
                    take_padded(key, number_digits, record.group.counter) &&
                    take_padded(key, shard_digits, record.group.coordinator.value) &&
                    take_padded(key, number_digits, record.sequence) && key.empty();
  if (!well) return std::nullopt;
  return record;
}

std::string head_key(std::uint32_t shard) {
  std::string key(head_prefix);
  append_padded(key, shard, shard_digits);
  return key;
}

std::optional<std::uint32_t> parse_head_key(std::string_view key) {
  if (!key.starts_with(head_prefix)) return std::nullopt;
  key.remove_prefix(head_prefix.size());
  std::uint32_t shard{};
  if (!take_padded(key, shard_digits, shard) || !key.empty()) return std::nullopt;
  return shard;
}

std::string record_line(const Record& record) {
  return "{\"record\":" + to_json(record) + "}\n";
}

std::optional<Record> parse_record_line(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  boost::json::error_code error;
  const auto value = boost::json::parse(line, error);
  if (error || !value.is_object() || value.get_object().size() != 1) return std::nullopt;
  const auto* record = value.get_object().if_contains("record");
  if (record == nullptr) return std::nullopt;
  const auto read = read_json<Record>(*record);
  if (!read) return std::nullopt;
  return *read;
}

}  // namespace muster::apps
