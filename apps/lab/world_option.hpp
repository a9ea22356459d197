#pragma once

#include <muster/lab/simulator.hpp>

#include <string>
#include <vector>

namespace muster::apps {

/// Parses `--world` for a cluster of `nodes` nodes, such as "1s kill 3, 2s cut 1-3, 3s start 3, 60s
/// end". Throws CLI::ValidationError.
std::vector<lab::Deed> deeds_of(const std::string& text, std::uint64_t nodes);

}  // namespace muster::apps
