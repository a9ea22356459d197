#pragma once

#include "apps/lab/simulate.hpp"

#include <chrono>
#include <ostream>
#include <string>
#include <vector>

/// The report of `muster simulate` on all seeds together.

namespace muster::apps {

/// How a campaign ended.
struct CampaignEnd {
  std::chrono::duration<double> took{};
  bool interrupted = false;
  std::vector<lab::Trouble> missing;  ///< kinds of fault that were required, but did not occur
};

/// The name on the command line, such as "one-way-cut".
std::string name_of(lab::Trouble trouble);

/// Prints the report, as text or as one JSON object a line.
void show_summary(const SimulateOptions& options, const lab::Campaign& campaign,
                  const CampaignEnd& end, std::ostream& out);

}  // namespace muster::apps
