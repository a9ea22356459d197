#include <muster/values/archive.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>
#include <muster/values/types.hpp>

MUSTER_COMPILE(muster::SafeState);
MUSTER_COMPILE_ARCHIVE(muster::SafeState);
