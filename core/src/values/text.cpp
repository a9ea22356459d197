#include <muster/values/hash.hpp>
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

// Short text as it is; of all else the length and the digest, by which it can be told from others.
void append_bytes(std::string& out, std::string_view bytes) {
  if (bytes.size() <= 40 && std::all_of(bytes.begin(), bytes.end(), is_printable)) {
    append_quoted(out, bytes);
    return;
  }
  append_decimal(out, bytes.size());
  out += " bytes ";
  append_hexadecimal(out, digest(bytes).value);
}

// In the largest unit that needs no fraction.
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

// A value that no enumerator has: "Status#9".
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

}  // namespace muster
