#include "apps/draw/svg.hpp"

#include "apps/draw/markup.hpp"
#include "apps/draw/signs.hpp"

#include <algorithm>

namespace muster::apps::drawing {
namespace {

std::string view_box(int top, int width, int height) {
  return "0 " + std::to_string(top) + ' ' + std::to_string(width) + ' ' + std::to_string(height);
}

void append_names(std::string& out, const Layout& layout) {
  for (NodeId node : layout.chart->nodes)
    Tag(out, "text")
        .with("class", "name")
        .with("x", layout.x_of(node))
        .with("y", layout.head - 12)
        .text("node " + std::to_string(node.value));
  Tag(out, "text")
      .with("class", "time")
      .with("x", layout.axis - 8)
      .with("y", layout.head - 12)
      .text("time");
  Tag(out, "path")
      .with("class", "head-line")
      .with("d", "M6 " + std::to_string(layout.head) + "H" + std::to_string(layout.width - 6))
      .close();
}

void append_paper(std::string& out, int y, int width, int height) {
  Tag(out, "rect")
      .with("class", "paper")
      .with("y", y)
      .with("width", width)
      .with("height", height)
      .close();
}

}  // namespace

void append_svg_head(std::string& out, const Layout& layout) {
  out += "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"muster head\" viewBox=\"" +
         view_box(0, layout.width, layout.head + 4) + "\" aria-hidden=\"true\">\n";
  append_paper(out, 0, layout.width, layout.head + 4);
  append_names(out, layout);
  out += "</svg>\n";
}

void append_svg_body(std::string& out, const Layout& layout) {
  const int begin = layout.head + 4;
  out +=
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"muster body\" id=\"drawing\" "
      "role=\"img\" aria-label=\"space-time diagram\" viewBox=\"" +
      view_box(begin, layout.width, layout.height - begin) + "\">\n";
  out += svg_definitions();
  out += "<g id=\"all\">\n";
  append_paper(out, begin, layout.width, layout.height - begin);
  append_signs(out, layout);
  out += "</g>\n</svg>\n";
}

std::string svg(const Chart& chart) {
  const Layout layout = lay_out(chart);
  const int height = layout.height + legend_height;
  const int width = std::max(layout.width, legend_width);
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"muster\" role=\"img\" width=\"" +
         std::to_string(width) + "\" height=\"" + std::to_string(height) + "\" viewBox=\"" +
         view_box(0, width, height) + "\">\n";
  out += "<title>Space-time diagram of " + std::to_string(chart.nodes.size()) + " nodes</title>\n";
  out.append("<style>\n").append(svg_style()).append("</style>\n").append(svg_definitions());
  append_paper(out, 0, width, height);
  append_names(out, layout);
  append_signs(out, layout);
  out += "<g transform=\"translate(0 " + std::to_string(layout.height) + ")\">\n";
  append_legend(out);
  out += "</g>\n</svg>\n";
  return out;
}

void append_svg_legend(std::string& out) {
  out +=
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"muster legend\" role=\"img\" "
      "aria-label=\"what the signs mean\" viewBox=\"" +
      view_box(0, legend_width, legend_height) + "\">\n";
  append_legend(out);
  out += "</svg>\n";
}

}  // namespace muster::apps::drawing
