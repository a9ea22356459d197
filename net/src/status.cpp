#include <muster/json.hpp>
#include <muster/net/status.hpp>
#include <muster/text.hpp>

MUSTER_COMPILE(muster::net::NodeStatus);
