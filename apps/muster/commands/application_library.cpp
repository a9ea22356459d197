#include "apps/muster/commands/application_library.hpp"

#include <muster/application_library.hpp>

#include <dlfcn.h>

namespace muster::apps {

Expected<MakeApplication> load_application(const std::filesystem::path& library) {
  const auto refused = [&](const std::string& why) {
    return Failure{ExitCode::usage, "--app " + library.string() + ": " + why};
  };
  // A name without a slash would be looked for elsewhere.
  void* handle = ::dlopen(std::filesystem::absolute(library).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return refused(::dlerror());
  const auto interface =
      reinterpret_cast<std::uint32_t (*)()>(::dlsym(handle, "muster_application_interface"));
  const auto make = reinterpret_cast<void (*)(Services&, std::unique_ptr<Application>&)>(
      ::dlsym(handle, "muster_make_application"));
  if (!interface || !make)
    return refused("it has no application; write MUSTER_APPLICATION_LIBRARY(make) in it");
  if (interface() != application_interface)
    return refused("it was built for interface " + std::to_string(interface()) +
                   " of applications, and this is " + std::to_string(application_interface) +
                   "; build it anew");
  return MakeApplication([make](Services& services) {
    std::unique_ptr<Application> made;
    make(services, made);
    return made;
  });
}

}  // namespace muster::apps
