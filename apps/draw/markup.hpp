#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace muster::apps::drawing {

/// Appends text, escaped for XML and HTML. Characters that XML does not allow become U+FFFD.
void append_escaped(std::string& out, std::string_view text);

/// One element: `Tag(out, "rect").with("x", 3).close();`. Call exactly one of the last four
/// functions.
class Tag {
 public:
  Tag(std::string& out, std::string_view name) : out_(out), name_(name) {
    out_.append("<").append(name);
  }

  Tag& with(std::string_view name, std::string_view value) {
    out_.append(" ").append(name).append("=\"");
    append_escaped(out_, value);
    out_ += '"';
    return *this;
  }
  template <std::integral T>
  Tag& with(std::string_view name, T value) {
    return with(name, std::string_view(std::to_string(value)));
  }

  /// Ends an empty element.
  void close() { out_ += "/>\n"; }
  /// Ends an element that contains text.
  void text(std::string_view text) {
    out_ += '>';
    append_escaped(out_, text);
    end();
  }
  /// Ends an element that contains only a title, which browsers show as a tooltip.
  void title(std::string_view text) {
    out_ += '>';
    append_title(text);
    end();
  }
  /// Ends an element that contains a title and text.
  void text(std::string_view text, std::string_view title) {
    out_ += '>';
    append_title(title);
    append_escaped(out_, text);
    end();
  }

 private:
  void append_title(std::string_view text) {
    out_ += "<title>";
    append_escaped(out_, text);
    out_ += "</title>";
  }
  void end() { out_.append("</").append(name_).append(">\n"); }

  std::string& out_;
  std::string_view name_;
};

}  // namespace muster::apps::drawing
