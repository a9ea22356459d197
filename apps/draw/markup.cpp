#include "apps/draw/markup.hpp"

namespace muster::apps::drawing {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

// U+FFFE and U+FFFF, which XML does not allow.
bool is_none_of_xml(std::string_view text) {
  return text.starts_with("\xEF\xBF\xBE") || text.starts_with("\xEF\xBF\xBF");
}

}  // namespace

void append_escaped(std::string& out, std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char character = text[at];
    switch (character) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\t':
      case '\n':
      case '\r':
        out += ' ';
        break;
      default:
        if (static_cast<unsigned char>(character) < 0x20) {
          out += replacement;
        } else if (is_none_of_xml(text.substr(at))) {
          out += replacement;
          at += 2;
        } else {
          out += character;
        }
    }
  }
}

}  // namespace muster::apps::drawing
