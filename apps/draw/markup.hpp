#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace muster::apps::drawing {

/// Appends text so that it is text in XML and HTML. What XML has no way to write becomes U+FFFD.
void append_escaped(std::string& out, std::string_view text);

/// One element: `Tag(out, "rect").with("x", 3).close();`. Exactly one of the endings is called.
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

  /// Nothing stands in it.
  void close() { out_ += "/>\n"; }
  /// Text stands in it.
  void text(std::string_view text) {
    out_ += '>';
    append_escaped(out_, text);
    end();
  }
  /// Nothing but what is shown to those who point at it.
  void title(std::string_view text) {
    out_ += '>';
    append_title(text);
    end();
  }
  /// Both.
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
