#include <muster/values/hash.hpp>
#include <muster/values/one_line.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <charconv>

namespace muster::detail {

namespace {

template <class Number>
void append_decimal(std::string& out, Number number) {
  char digits[24];
  out.append(digits, std::to_chars(std::begin(digits), std::end(digits), number).ptr);
}

bool is_printable(char c) {
  return c >= ' ' && c <= '~';
}

}  // namespace

void append_number(std::string& out, std::uint64_t number) {
  append_decimal(out, number);
}

void append_number(std::string& out, std::int64_t number) {
  append_decimal(out, number);
}

void append_hexadecimal(std::string& out, std::uint64_t number) {
  for (int shift = 60; shift >= 0; shift -= 4) out += hexadecimal_digits[number >> shift & 15];
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < ' ' || byte == 0x7f) {
      ((out += "\\x") += hexadecimal_digits[byte >> 4]) += hexadecimal_digits[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

// Appends short text unchanged. Of other data it appends the length and the digest.
void append_bytes(std::string& out, std::string_view bytes) {
  if (bytes.size() <= 40 && std::all_of(bytes.begin(), bytes.end(), is_printable)) {
    append_quoted(out, bytes);
    return;
  }
  append_decimal(out, bytes.size());
  out += " bytes ";
  append_hexadecimal(out, digest(bytes).value);
}

// The duration in the largest unit in which it is a whole number.
void append_duration(std::string& out, Duration duration) {
  constexpr struct {
    std::int64_t nanoseconds;
    const char* name;
  } units[] = {{1'000'000'000, " s"}, {1'000'000, " ms"}, {1'000, " us"}, {1, " ns"}};
  const auto unit = std::find_if(std::begin(units), std::end(units), [&](const auto& candidate) {
    return duration.count() % candidate.nanoseconds == 0;
  });
  append_decimal(out, duration.count() / unit->nanoseconds);
  out += unit->name;
}

// A value without an enumerator, such as "Status#9".
void append_unnamed(std::string& out, std::string_view type, std::int64_t value) {
  out.append(type) += '#';
  append_decimal(out, value);
}

}  // namespace muster::detail

namespace muster {

std::string presentable(std::string_view bytes, std::size_t most) {
  std::string shown;
  for (char c : bytes.substr(0, most)) shown += detail::is_printable(c) ? c : '?';
  if (bytes.size() > most) shown += "...";
  return shown;
}

// Unicode, table 3-7.
std::size_t utf8_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned first = byte(0);
  const unsigned second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned least = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned greatest = first == 0xED ? 0x9F : 0xBF;  // no surrogates
    return second >= least && second <= greatest && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned least = first == 0xF0 ? 0x90 : 0x80;
    const unsigned greatest = first == 0xF4 ? 0x8F : 0xBF;
    return second >= least && second <= greatest && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

std::string one_line(std::string_view text, std::size_t most) {
  std::string line;
  while (!text.empty()) {
    const std::size_t size = utf8_sequence(text);
    const unsigned last = static_cast<unsigned char>(text[size > 0 ? size - 1 : 0]);
    const bool control = size == 0 || (size == 1 && (last < ' ' || last == 0x7F)) ||
                         (text.front() == '\xC2' && last < 0xA0);
    if (line.size() + (control ? 1 : size) > most) return line + "...";
    if (control)
      line += text.front() == '\n' ? ' ' : '?';
    else
      line += text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return line;
}

}  // namespace muster
