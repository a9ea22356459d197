#pragma once

#include "apps/draw/chart.hpp"

#include <string>

/// The chart as text for other programs.

namespace muster::apps::drawing {

/// A Mermaid `sequenceDiagram`: letters in the order in which they arrived, or were sent where they
/// never did.
std::string mermaid(const Chart& chart);

/// A log for ShiViz: its first line is the pattern that reads it; every line of a node is an event
/// with its vector clock.
std::string shiviz(const Chart& chart);

}  // namespace muster::apps::drawing
