#include "apps/draw/markup.hpp"

namespace muster::apps::drawing {

void append_escaped(std::string& out, std::string_view text) {
  for (const char character : text) {
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
        if (static_cast<unsigned char>(character) < 0x20)
          out += "\xEF\xBF\xBD";
        else
          out += character;
    }
  }
}

}  // namespace muster::apps::drawing
