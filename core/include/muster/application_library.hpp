#pragma once

#include <muster/application.hpp>

#include <cstdint>
#include <memory>

/// An Application in a shared library, for `muster simulate --app LIB.so`. A library that also
/// brings a check of each world uses muster/lab/trial_library.hpp.

namespace MUSTER_EXPORT muster {

/// The version of the interface between a library and the command; both must have the same. The
/// version is raised whenever Application, Services, Done or the parts of a trial change. The
/// library and the command must also be built by the same compiler.
inline constexpr std::uint32_t application_interface = 3;

}  // namespace muster

#define MUSTER_LIBRARY_INTERFACE                                                                   \
  extern "C" __attribute__((visibility("default"))) std::uint32_t muster_application_interface() { \
    return ::muster::application_interface;                                                        \
  }

/// Defines the entry point of the library. Use it once, outside of any namespace. `make(services)`
/// returns a new std::unique_ptr<muster::Application> for each life of each node. Several threads
/// may call it at once.
#define MUSTER_APPLICATION_LIBRARY(make)                                            \
  MUSTER_LIBRARY_INTERFACE                                                          \
  extern "C" __attribute__((visibility("default"))) void muster_make_application(   \
      ::muster::Services& services, std::unique_ptr<::muster::Application>& made) { \
    made = (make)(services);                                                        \
  }                                                                                 \
  static_assert(true, "a semicolon follows")
