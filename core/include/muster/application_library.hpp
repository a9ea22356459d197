#pragma once

#include <muster/application.hpp>

#include <cstdint>
#include <memory>

/// An Application in a shared library, for `muster simulate --app LIB.so`. One that brings a check
/// of each world has muster/lab/trial_library.hpp.

namespace MUSTER_EXPORT muster {

/// What a library and the command have to agree on; raised whenever Application, Services, Done
/// or what a trial is made of changes. They also have to be built by the same compiler.
inline constexpr std::uint32_t application_interface = 3;

}  // namespace muster

#define MUSTER_LIBRARY_INTERFACE                                                                   \
  extern "C" __attribute__((visibility("default"))) std::uint32_t muster_application_interface() { \
    return ::muster::application_interface;                                                        \
  }

/// Stands once in the library, outside of any namespace: `make(services)` gives an
/// std::unique_ptr<muster::Application>, for each life of each node a new one, and is called by
/// several threads at once.
#define MUSTER_APPLICATION_LIBRARY(make)                                            \
  MUSTER_LIBRARY_INTERFACE                                                          \
  extern "C" __attribute__((visibility("default"))) void muster_make_application(   \
      ::muster::Services& services, std::unique_ptr<::muster::Application>& made) { \
    made = (make)(services);                                                        \
  }                                                                                 \
  static_assert(true, "a semicolon follows")
