#pragma once

#include "apps/draw/chart.hpp"

#include <string>
#include <string_view>

namespace muster::apps::drawing {

/// The diagram as one page that needs nothing else: zoom, a step slider, and the state vector of
/// every node at the cursor.
std::string html(const Chart& chart);

/// What the page is made of.
std::string_view page_style();
std::string_view page_script();
std::string_view page_controls();

}  // namespace muster::apps::drawing
