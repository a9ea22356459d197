#pragma once

#include "command.hpp"

#include "apps/cluster/ports.hpp"
#include "apps/muster/config/config.hpp"

/// A few nodes as users run them: each is a program with its own configuration.

namespace muster::apps {

/// Configurations of the nodes 1 to n of a cluster. A test need not start all of these nodes.
struct Nodes {
  explicit Nodes(std::size_t count, ProtocolName protocol = ProtocolName::bully,
                 Duration calm = std::chrono::seconds(1))
      : ports(ReservedPorts::take(count).value()) {
    using namespace std::chrono_literals;
    ClusterConfig cluster;
    cluster.protocol = protocol;
    cluster.name = "test";
    cluster.hold_down = 0s;  // lives in tests are short
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

  /// Starts one of the configured nodes, and returns when that node has printed that it is up.
  Process start(std::uint32_t id) const {
    const auto output = directory.path / ("n" + std::to_string(id) + ".log");
    std::filesystem::remove(output);  // the output of an earlier life
    auto process = Process::launch(muster_with({"node", "--config", file(id)}, output));
    BOOST_REQUIRE(process.has_value());
    wait_until_says(*process, output, " is up on ");
    return std::move(*process);
  }

  [[nodiscard]] Ran muster(const std::string& line) const { return directory.muster(line); }
  /// Repeats the command until it ends with that exit code.
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
