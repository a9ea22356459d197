#include "apps/lab/application_library.hpp"

#include <muster/application_library.hpp>

#include <dlfcn.h>

namespace muster::apps {

Expected<lab::MakeTrial> load_application(const std::filesystem::path& library) {
  const auto refused = [&](const std::string& why) {
    return Failure{ExitCode::usage, "--app " + library.string() + ": " + why};
  };
  // An absolute path: dlopen searches other directories for a name without a slash.
  void* handle = ::dlopen(std::filesystem::absolute(library).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return refused(::dlerror());
  const auto interface =
      reinterpret_cast<std::uint32_t (*)()>(::dlsym(handle, "muster_application_interface"));
  const auto make = reinterpret_cast<void (*)(Services&, std::unique_ptr<Application>&)>(
      ::dlsym(handle, "muster_make_application"));
  const auto make_trial =
      reinterpret_cast<void (*)(lab::Trial&)>(::dlsym(handle, "muster_make_trial"));
  if (!interface || (!make && !make_trial))
    return refused(
        "it has no application; write MUSTER_APPLICATION_LIBRARY(make) or "
        "MUSTER_TRIAL_LIBRARY(make_trial) in it");
  if (make && make_trial)
    return refused(
        "it has both MUSTER_APPLICATION_LIBRARY and MUSTER_TRIAL_LIBRARY; a trial has an "
        "application, so leave out the first");
  if (interface() != application_interface)
    return refused("it was built for version " + std::to_string(interface()) +
                   " of the application interface, but this muster has version " +
                   std::to_string(application_interface) + "; rebuild it");
  if (make_trial)
    return lab::MakeTrial([make_trial] {
      lab::Trial trial;
      make_trial(trial);
      return trial;
    });
  const MakeApplication application = [make](Services& services) {
    std::unique_ptr<Application> made;
    make(services, made);
    return made;
  };
  return lab::MakeTrial([application] { return lab::Trial{application}; });
}

}  // namespace muster::apps
