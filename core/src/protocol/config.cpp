#include <muster/protocol/config.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

MUSTER_COMPILE(muster::Config);
