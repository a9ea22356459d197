#pragma once

#include "apps/draw/layout.hpp"

#include <string>

namespace muster::apps::drawing {

/// The diagram as one SVG file: readable in colour, in grey, in print, and on a dark screen.
std::string svg(const Chart& chart);

/// How everything looks: the style sheet of the diagram.
std::string_view svg_style();

/// The markers and patterns that each of these refers to.
std::string_view svg_definitions();

/// The names of the nodes, as an SVG element of its own that stays in sight.
void append_svg_head(std::string& out, const Layout& layout);

/// All below the names, as an SVG element without the names.
void append_svg_body(std::string& out, const Layout& layout);

/// What the signs mean, as an SVG element.
void append_svg_legend(std::string& out);

}  // namespace muster::apps::drawing
