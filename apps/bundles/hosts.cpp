#include "apps/bundles/hosts.hpp"

#include "apps/muster/config/config.hpp"

#include <algorithm>
#include <set>
#include <sstream>

namespace muster::apps {
namespace {

Failure wrong(const std::string& why) {
  return {ExitCode::usage, "--nodes: " + why};
}

/// Reads host, host:port, or an IPv6 address with or without brackets.
std::optional<Address> address_with(const std::string& host, unsigned port) {
  const bool bare = std::count(host.begin(), host.end(), ':') > 1 && !host.starts_with('[');
  if (const auto whole = bare ? std::nullopt : address_of(host)) return whole;
  return address_of((bare ? '[' + host + ']' : host) + ':' + std::to_string(port));
}

}  // namespace

Expected<std::map<NodeId, Address>> addresses_of(const std::string& list, std::uint16_t first) {
  constexpr unsigned most = 65535;
  std::map<NodeId, Address> nodes;
  std::set<Address> taken;
  unsigned port = first;
  std::uint32_t loopback = 0;
  std::uint32_t id = 0;
  std::istringstream hosts(list + ',');
  for (std::string host; std::getline(hosts, host, ',');) {
    auto address = address_with(host, std::min(port, most));
    if (!address)
      return wrong('"' + host +
                   "\" is not a host that others can dial: expected an IP address or a host name, "
                   "with or without a port, such as db1.example or 10.0.0.1:7101");
    if (address->host == "0.0.0.0" || address->host == "::")
      return wrong('"' + host +
                   "\" stands for every address of a machine: expected the one that others dial");
    if (address->is_loopback()) ++loopback, ++port;
    if (!taken.insert(*address).second)
      return wrong(address->text() +
                   " is listed twice: expected a different host or port for each node");
    nodes[NodeId{++id}] = *std::move(address);
  }
  if (loopback != 0 && loopback != id)
    return wrong(
        "other machines cannot dial a loopback address: expected loopback addresses for all nodes, "
        "or for none");
  return nodes;
}

}  // namespace muster::apps
