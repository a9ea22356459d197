#pragma once

#include "apps/draw/chart.hpp"

#include <string>

/// The chart as text for other programs.

namespace muster::apps::drawing {

/// A Mermaid `sequenceDiagram`. Letters are in the order of their arrivals. A letter that did not
/// arrive is listed when it was sent.
std::string mermaid(const Chart& chart);

/// A log for ShiViz. The first line is the pattern by which ShiViz reads the log. Every line of a
/// node is an event with its vector clock.
std::string shiviz(const Chart& chart);

}  // namespace muster::apps::drawing
