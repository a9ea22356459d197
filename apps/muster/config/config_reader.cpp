#include "apps/muster/config/config_reader.hpp"

#include "apps/base/text.hpp"

#include <muster/values/one_line.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <sstream>

namespace muster::apps {

namespace {

std::string join(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

}  // namespace

std::string Reader::value_text(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array()) return "an array";
  std::string text;
  if (const auto words = node.value_exact<std::string>()) {
    detail::append_quoted(text, *words);
    return text;
  }
  std::ostringstream out;
  node.visit([&](const auto& value) {
    if constexpr (toml::is_value<decltype(value)>) out << toml::default_formatter(value);
  });
  return out.str();
}

void Reader::refuse(std::size_t line, const std::string& why) {
  if (failure_) return;
  constexpr std::size_t most = 1000;  // keys and values can be long
  failure_ = Failure{ExitCode::bad_configuration,
                     file_.string() + ":" + std::to_string(line) + ": " + one_line(why, most)};
}

void Reader::refuse(const toml::node& at, std::string_view key, const std::string& expected) {
  refuse(line_of(at), std::string(key) + " = " + value_text(at) + ": expected " + expected);
}

const toml::table* Reader::table(const toml::table& parent, std::string_view name, bool required) {
  const toml::node* node = parent.get(name);
  if (node == nullptr) {
    if (required) refuse(1, "[" + std::string(name) + "] is missing");
    return nullptr;
  }
  if (!node->is_table()) refuse(*node, name, "a table, [" + std::string(name) + "]");
  return node->as_table();
}

void Reader::only(const toml::table& table, std::string_view where,
                  const std::vector<std::string_view>& known) {
  for (const auto& [key, node] : table) {
    if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
    refuse(key.source().begin.line, "unknown key " + std::string(key.str()) + " = " +
                                        value_text(node) + " in " + std::string(where) +
                                        ": expected one of " + join(known));
  }
}

std::string Reader::text(const toml::table& table, std::string_view key, std::string otherwise) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return otherwise;
  if (const auto value = node->value_exact<std::string>()) return *value;
  refuse(*node, key, "a quoted text");
  return otherwise;
}

bool Reader::flag(const toml::table& table, std::string_view key, bool otherwise) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return otherwise;
  if (const auto value = node->value_exact<bool>()) return *value;
  refuse(*node, key, "true or false");
  return otherwise;
}

std::uint32_t Reader::number(const toml::table& table, std::string_view key,
                             std::uint32_t otherwise, std::uint32_t least, std::uint32_t most) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return otherwise;
  const auto value = node->value_exact<std::int64_t>();
  if (value && *value >= least && *value <= most) return static_cast<std::uint32_t>(*value);
  refuse(*node, key,
         "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return otherwise;
}

Duration Reader::duration(const toml::table& table, std::string_view key, Duration otherwise,
                          Duration least, Duration most) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return otherwise;
  const auto words = node->value_exact<std::string>();
  const auto value = words ? parse_duration(*words) : std::nullopt;
  if (value && *value >= least && *value <= most) return *value;
  refuse(*node, key,
         "a duration " + std::string(least > Duration() ? "above 0" : "of at least 0") +
             " and up to " + format_duration(most) + ", such as \"100ms\" or \"2s\"");
  return otherwise;
}

void read_addresses(Reader& reader, const toml::table& table, const std::string& where,
                    std::map<NodeId, Address>& to, const std::set<std::string_view>& other_keys) {
  for (const auto& [key, node] : table) {
    if (other_keys.contains(key.str())) continue;
    const auto id = parse_number(key.str());
    if (!id || *id == 0 || *id > std::numeric_limits<std::uint32_t>::max())
      return reader.refuse(key.source().begin.line,
                           std::string(key.str()) + " = " + Reader::value_text(node) + " in " +
                               where + ": expected a node's id from 1 on, such as 1");
    const auto words = node.value_exact<std::string>();
    const auto address = words ? address_of(*words) : std::nullopt;
    if (!address || address->host == "0.0.0.0" || address->host == "::")
      return reader.refuse(
          node, key.str(),
          "an IP address or a host's name, and a port from 1 to 65535, that others can "
          "dial, such as \"127.0.0.1:7101\" or \"db1.example:7101\"");
    to.emplace(NodeId{static_cast<std::uint32_t>(*id)}, *address);
  }
}

}  // namespace muster::apps
