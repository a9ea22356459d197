#pragma once

#include "apps/draw/layout.hpp"

#include <string>

namespace muster::apps::drawing {

/// The diagram as one SVG file. It is readable in colour, in grey, in print and on a dark screen.
std::string svg(const Chart& chart);

/// The style sheet of the diagram.
std::string_view svg_style();

/// The markers and patterns that the diagram refers to.
std::string_view svg_definitions();

/// The names of the nodes, as a separate SVG element that stays visible when the page scrolls.
void append_svg_head(std::string& out, const Layout& layout);

/// The diagram without the names, as an SVG element.
void append_svg_body(std::string& out, const Layout& layout);

/// The explanation of the signs, as an SVG element.
void append_svg_legend(std::string& out);

}  // namespace muster::apps::drawing
