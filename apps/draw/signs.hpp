#pragma once

#include "apps/draw/layout.hpp"

#include <string>

/// The signs of which the diagram is made.

namespace muster::apps::drawing {

/// Axis, lanes, arrows, hooks, faults, violations: all but the names of the nodes.
void append_signs(std::string& out, const Layout& layout);

/// What they mean; from the origin, of this size.
void append_legend(std::string& out);
constexpr int legend_width = 760;
constexpr int legend_height = 84;

}  // namespace muster::apps::drawing
