#pragma once

#include <muster/application.hpp>
#include <muster/values/failure.hpp>

#include <filesystem>

namespace muster::apps {

/// Loads the application of a shared library that has MUSTER_APPLICATION_LIBRARY; it stays loaded
/// to the end. A usage error where there is none, or one of another interface.
Expected<MakeApplication> load_application(const std::filesystem::path& library);

}  // namespace muster::apps
