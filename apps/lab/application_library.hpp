#pragma once

#include <muster/lab/trial.hpp>
#include <muster/values/failure.hpp>

#include <filesystem>

namespace muster::apps {

/// Loads a shared library that has MUSTER_TRIAL_LIBRARY or MUSTER_APPLICATION_LIBRARY, whose trials
/// have no check; it stays loaded to the end. A usage error where there is neither, or one of
/// another interface.
Expected<lab::MakeTrial> load_application(const std::filesystem::path& library);

}  // namespace muster::apps
