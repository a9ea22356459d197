#pragma once

#include <muster/application_library.hpp>
#include <muster/lab/trial.hpp>

/// A trial in a shared library, for `muster simulate --app LIB.so`: an application and a check of
/// each world. Where there is no check, muster/application_library.hpp is enough.

/// Stands once in the library, outside of any namespace: `make_trial()` gives a muster::lab::Trial,
/// for each seed a new one, and is called by several threads at once.
#define MUSTER_TRIAL_LIBRARY(make_trial)                                    \
  MUSTER_LIBRARY_INTERFACE                                                  \
  extern "C" __attribute__((visibility("default"))) void muster_make_trial( \
      ::muster::lab::Trial& made) {                                         \
    made = (make_trial)();                                                  \
  }                                                                         \
  static_assert(true, "a semicolon follows")
