#pragma once

#include "apps/draw/layout.hpp"

#include <string>

/// Draws the signs of the diagram.

namespace muster::apps::drawing {

/// Draws all parts of the diagram except the names of the nodes.
void append_signs(std::string& out, const Layout& layout);

/// Draws the explanation of the signs, from the origin, in this size.
void append_legend(std::string& out);
constexpr int legend_width = 760;
constexpr int legend_height = 84;

}  // namespace muster::apps::drawing
