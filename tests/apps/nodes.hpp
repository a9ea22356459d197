#pragma once

#include "command.hpp"

#include "apps/cluster/ports.hpp"
#include "apps/muster/config/config.hpp"

/// A few nodes as their users have them: each a program that runs with its configuration.

namespace muster::apps {

/// Configurations of the nodes 1 to n of a cluster, of which a test may start some.
struct Nodes {
  explicit Nodes(std::size_t count, ProtocolName protocol = ProtocolName::bully,
                 Duration calm = std::chrono::seconds(1))
      : ports(ReservedPorts::take(count).value()) {
    using namespace std::chrono_literals;
    ClusterConfig cluster;
    cluster.protocol = protocol;
    cluster.name = "test";
    cluster.hold_down = 0s;  // lives of tests are short
    cluster.calm = calm;
    cluster.timings.T = 2s;
    cluster.timings.coordinator_timeout = cluster.timings.check_every + cluster.timings.T;
    std::uint32_t id = 0;
    for (std::uint16_t port : ports.ports()) cluster.nodes[NodeId{++id}] = {"127.0.0.1", port};
    for (const auto& [node, address] : cluster.nodes) {
      NodeConfig config;
      config.self = node;
      config.data = directory.path / ("n" + std::to_string(node.value));
      config.cluster = cluster;
      std::ofstream(file(node.value)) << write_config(config);
    }
  }

  std::string file(std::uint32_t id) const {
    return (directory.path / ("n" + std::to_string(id) + ".toml")).string();
  }
  std::string data(std::uint32_t id) const {
    return (directory.path / ("n" + std::to_string(id))).string();
  }

  /// A node of these that is up: it has said so.
  Process start(std::uint32_t id) const {
    const auto output = directory.path / ("n" + std::to_string(id) + ".log");
    std::filesystem::remove(output);  // what an earlier life said there
    auto process = Process::launch(muster_with({"node", "--config", file(id)}, output));
    BOOST_REQUIRE(process.has_value());
    wait_until_says(*process, output, " is up on ");
    return std::move(*process);
  }

  [[nodiscard]] Ran muster(const std::string& line) const { return directory.muster(line); }
  /// Asks until the command ends with that code.
  Ran until(int code, const std::string& line) const {
    Ran ran;
    do {
      ran = muster(line);
    } while (ran.code != code);
    return ran;
  }

  TestDirectory directory;
  ReservedPorts ports;
};

}  // namespace muster::apps
