#include <muster/values/json.hpp>
#include <muster/values/one_line.hpp>
#include <muster/values/text.hpp>

#include <boost/json/serialize.hpp>

namespace muster::detail {

namespace {

constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD, which escapes bytes

std::optional<unsigned> hexadecimal_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  return std::nullopt;
}

constexpr std::array<std::int8_t, 256> base64_values = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < base64_digits.size(); ++i)
    values[static_cast<unsigned char>(base64_digits[i])] = static_cast<std::int8_t>(i);
  return values;
}();

bool is_plain(char c) {
  return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

void append_escaped_ascii(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += hexadecimal_digits[static_cast<unsigned char>(c) >> 4];
      out += hexadecimal_digits[static_cast<unsigned char>(c) & 15];
  }
}

void append_escaped_byte(std::string& out, char c) {
  out += "\\ufffd";
  out += hexadecimal_digits[static_cast<unsigned char>(c) >> 4];
  out += hexadecimal_digits[static_cast<unsigned char>(c) & 15];
}

bool decode_base64(std::string_view digits, std::string& bytes) {
  if (digits.size() % 4 != 0) return false;
  std::size_t padding = 0;
  while (padding < 2 && digits.ends_with('=')) {
    digits.remove_suffix(1);
    ++padding;
  }
  bytes.clear();
  bytes.reserve(digits.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (char digit : digits) {
    const int value = base64_values[static_cast<unsigned char>(digit)];
    if (value < 0) return false;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFF);
  }
  return count == 2 * padding && (bits & ((1u << count) - 1)) == 0;  // each value has one text only
}

}  // namespace

void write_json_number(std::string& out, std::uint64_t number) {
  append_number(out, number);
}

void write_json_number(std::string& out, std::int64_t number) {
  append_number(out, number);
}

void write_json_digest(std::string& out, Digest digest) {
  out += '"';
  append_hexadecimal(out, digest.value);
  out += '"';
}

void write_json_bytes(std::string& out, std::string_view bytes) {
  const std::size_t begin = out.size();
  out.resize(begin + 2 + (bytes.size() + 2) / 3 * 4, '=');
  out[begin] = out.back() = '"';
  char* to = &out[begin + 1];
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; *to++ = base64_digits[bits >> count & 63]) count -= 6;
  }
  if (count > 0) *to = base64_digits[bits << (6 - count) & 63];
}

void write_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto plain = static_cast<std::size_t>(
        std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    std::size_t length = utf8_sequence(text);
    if (length == 0 || text.starts_with(replacement)) {
      append_escaped_byte(out, text.front());
      length = 1;
    } else if (length == 1) {
      append_escaped_ascii(out, text.front());
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  out += '"';
}

Failure JsonReader::failure() const {
  return {ExitCode::does_not_hold,
          (path_.empty() ? std::string("the value") : path_) + ": " + what_};
}

bool JsonReader::expected(std::string_view what, const boost::json::value& found) {
  constexpr std::size_t shown = 40;
  std::string text = boost::json::serialize(found);
  if (text.size() > shown) text.replace(shown, std::string::npos, "...");
  what_.assign("expected ").append(what).append(", found ").append(text);
  return false;
}

bool JsonReader::missing(std::string_view key) {
  what_ = "is missing";
  return inside(key);
}

bool JsonReader::inside(std::string_view key) {
  path_.insert(0, std::string(key) + (path_.empty() || path_.front() == '[' ? "" : "."));
  return false;
}

bool JsonReader::inside(std::size_t index) {
  const bool joined = path_.empty() || path_.front() == '[';
  path_.insert(0, '[' + std::to_string(index) + ']' + (joined ? "" : "."));
  return false;
}

bool JsonReader::all_asked(const Keys& keys) {
  if (of_any_version_) return true;
  for (const auto& entry : keys.object) {
    const std::string_view key = entry.key();
    if (std::find(keys.asked.begin(), keys.asked.end(), key) != keys.asked.end()) continue;
    what_ = "is not a known key";
    return inside(key);
  }
  return true;
}

bool JsonReader::array_of(std::size_t size, const boost::json::value& from) {
  if (from.is_array() && from.get_array().size() == size) return true;
  return expected("an array of " + std::to_string(size), from);
}

bool JsonReader::read_natural(const boost::json::value& from, std::uint64_t& to,
                              std::uint64_t greatest) {
  boost::json::error_code error;
  to = from.is_int64() || from.is_uint64() ? from.to_number<std::uint64_t>(error) : greatest;
  if (!error && from.is_number() && !from.is_double() && to <= greatest) return true;
  return expected("a whole number from 0 to " + std::to_string(greatest), from);
}

bool JsonReader::read_integer(const boost::json::value& from, std::int64_t& to, std::int64_t least,
                              std::int64_t greatest) {
  boost::json::error_code error;
  to = from.is_int64() || from.is_uint64() ? from.to_number<std::int64_t>(error) : greatest;
  if (!error && from.is_number() && !from.is_double() && to >= least && to <= greatest) return true;
  return expected(
      "a whole number from " + std::to_string(least) + " to " + std::to_string(greatest), from);
}

bool JsonReader::read_string(const boost::json::value& from, std::string& to) {
  if (!from.is_string()) return expected("a string", from);
  std::string_view text = from.get_string();
  to.clear();
  for (;;) {
    const std::size_t escape = text.find(replacement);
    to.append(text.substr(0, escape));
    if (escape == std::string_view::npos) return true;
    text.remove_prefix(escape + replacement.size());
    const auto high = text.size() < 2 ? std::nullopt : hexadecimal_value(text[0]);
    const auto low = text.size() < 2 ? std::nullopt : hexadecimal_value(text[1]);
    if (!high || !low) return expected("two hexadecimal digits after each U+FFFD", from);
    to += static_cast<char>(*high << 4 | *low);
    text.remove_prefix(2);
  }
}

bool JsonReader::read_bytes(const boost::json::value& from, std::string& to) {
  if (from.is_string() && decode_base64(from.get_string(), to)) return true;
  return expected("bytes in base64", from);
}

bool JsonReader::read_digest(const boost::json::value& from, Digest& to) {
  to = {};
  const std::string_view text = from.is_string() ? std::string_view(from.get_string()) : "";
  bool well = text.size() == 16;
  for (char c : text) {
    const auto value = hexadecimal_value(c);
    well = well && value;
    if (value) to.value = to.value << 4 | *value;
  }
  return well || expected("16 hexadecimal digits", from);
}

bool JsonReader::read_set(const boost::json::value& from, NodeSet& to) {
  std::vector<NodeId> nodes;
  if (!read_vector(from, nodes)) return false;
  to = {};
  for (NodeId node : nodes) to.insert(node);
  return (to.size() == nodes.size() && std::equal(to.begin(), to.end(), nodes.begin())) ||
         expected("ids in ascending order", from);
}

}  // namespace muster::detail
