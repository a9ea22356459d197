#pragma once

/// Marks everything that headers declare as visible in a shared library. The rest is hidden.
#define MUSTER_EXPORT __attribute__((visibility("default")))
