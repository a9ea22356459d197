#pragma once

#include "apps/draw/chart.hpp"

#include <string>
#include <string_view>

namespace muster::apps::drawing {

/// The diagram as a page that loads no other file. It has a zoom, a slider for steps, and the state
/// vector of every node at the cursor.
std::string html(const Chart& chart);

/// The parts of the page.
std::string_view page_style();
std::string_view page_script();
std::string_view page_controls();

}  // namespace muster::apps::drawing
