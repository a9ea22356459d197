#include "apps/draw/pen.hpp"
#include "apps/draw/signs.hpp"

namespace muster::apps::drawing {
namespace {

constexpr int row_height = 22;

void append_status(std::string& out, int x, const std::string& status, const char* pattern) {
  const auto square = [&](const std::string& of_class) {
    Tag(out, "rect")
        .with("class", of_class)
        .with("x", x)
        .with("y", 8)
        .with("width", 2 * half_band)
        .with("height", 18)
        .close();
  };
  square("band " + status);
  if (*pattern != '\0') square(pattern);
  Tag(out, "circle")
      .with("class", "badge")
      .with("cx", x + half_band)
      .with("cy", 17)
      .with("r", 7)
      .close();
  text_at(out, "letter", x + half_band, 21).text(status.substr(0, 1));
  text_at(out, "note", x + 22, 21).text(status);
}

void append_hook(std::string& out, int x, const std::string& hook) {
  Tag(out, "rect")
      .with("class", "hook " + hook)
      .with("x", x)
      .with("y", 8 + row_height)
      .with("width", 6)
      .with("height", 16)
      .close();
  text_at(out, "note", x + 11, 21 + row_height).text(hook);
}

}  // namespace

void append_legend(std::string& out) {
  append_status(out, 14, "Down", "");
  append_status(out, 110, "Election", "stripes");
  append_status(out, 220, "Reorganization", "dots");
  append_status(out, 370, "Normal", "");
  append_path(out, "birth", {"M", 470, 22, "h", 16, "l", -8, -8, "z"});
  text_at(out, "note", 492, 21).text("a life begins");
  append_path(out, "over", {"M", 591, 11, "l", 12, 12, "m", 0, -12, "l", -12, 12});
  text_at(out, "note", 610, 21).text("it is over");

  append_hook(out, 14, "stop");
  append_hook(out, 70, "reorganize");
  append_hook(out, 170, "start");
  append_path(out, "save", {"M", 228, 38, "h", 8});
  text_at(out, "note", 242, 43).text("a Save is durable");
  append_path(out, "permits revoked", {"M", 362, 35, "h", 8, "l", -4, 7, "z"});
  text_at(out, "note", 376, 43).text("permits revoked");
  append_path(out, "permits returned", {"M", 478, 35, "h", 8, "l", -4, 7, "z"});
  text_at(out, "note", 492, 43).text("returned");
  append_path(out, "work", {"M", 560, 30, "v", 16});
  text_at(out, "note", 568, 43).text("works for its group");

  const auto arrow = [&](int x, const char* of_class, const char* tip, const char* text) {
    Tag tag(out, "path");
    tag.with("class", of_class).with("d", path({"M", x, 61, "h", 34}));
    if (*tip != '\0') tag.with("marker-end", tip);
    tag.close();
    text_at(out, "note", x + 42, 65).text(text);
  };
  arrow(14, "arrow", "url(#tip)", "call");
  arrow(100, "arrow answer", "url(#answer-tip)", "answer");
  arrow(200, "arrow lost", "", "never received");
  append_path(out, "air", {"M", 234, 57, "v", 8});
  append_path(out, "violation", {"M", 358, 53, "l", 8, 8, "l", -8, 8, "l", -8, -8, "z"});
  text_at(out, "note", 372, 65).text("an assertion is violated");
  append_path(out, "break",
              {"M", 524, 59, "l", 8, -4, "l", 8, 4, "v", 6, "l", -8, -4, "l", -8, 4, "z"});
  text_at(out, "note", 546, 65).text("nothing happens for so long");
}

}  // namespace muster::apps::drawing
