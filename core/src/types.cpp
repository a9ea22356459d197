#include <muster/archive.hpp>
#include <muster/json.hpp>
#include <muster/text.hpp>
#include <muster/types.hpp>

MUSTER_COMPILE(muster::SafeState);
MUSTER_COMPILE_ARCHIVE(muster::SafeState);
MUSTER_COMPILE(muster::Config);
