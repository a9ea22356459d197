#pragma once

#include <muster/application_library.hpp>
#include <muster/lab/trial.hpp>

/// A trial in a shared library, for `muster simulate --app LIB.so`: an application, and a check of
/// each world. For an application without a check use muster/application_library.hpp.

/// Exports `make_trial()`, which returns a new muster::lab::Trial for each seed. Use the macro once
/// in the library, outside of any namespace. `make_trial` is called by several threads at the same
/// time.
#define MUSTER_TRIAL_LIBRARY(make_trial)                                    \
  MUSTER_LIBRARY_INTERFACE                                                  \
  extern "C" __attribute__((visibility("default"))) void muster_make_trial( \
      ::muster::lab::Trial& made) {                                         \
    made = (make_trial)();                                                  \
  }                                                                         \
  static_assert(true, "a semicolon follows")
