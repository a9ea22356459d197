#pragma once

/// Marks what a shared library shows: all that headers declare. The rest is hidden.
#define MUSTER_EXPORT __attribute__((visibility("default")))
