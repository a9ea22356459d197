#include <muster/net/status.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

MUSTER_COMPILE(muster::net::NodeStatus);
