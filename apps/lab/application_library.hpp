#pragma once

#include <muster/lab/trial.hpp>
#include <muster/values/failure.hpp>

#include <filesystem>

namespace muster::apps {

/// Loads a shared library that has MUSTER_TRIAL_LIBRARY or MUSTER_APPLICATION_LIBRARY. A trial that
/// is made from MUSTER_APPLICATION_LIBRARY has no check of its own. The library stays loaded until
/// the process ends. Fails with a usage error if the library has neither of the two, or was built
/// for another interface.
Expected<lab::MakeTrial> load_application(const std::filesystem::path& library);

}  // namespace muster::apps
