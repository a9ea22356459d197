#include "styles.hpp"

#include "net/node/cluster.hpp"

#include <muster/storage/memory_storage.hpp>

#include <csignal>
#include <iostream>

/// The only node of its cluster, in a process of its own: STYLE ACT ADDRESS. Its application has
/// the style STYLE, and its first `stop` does ACT.

using namespace muster;

int main(int count, char** arguments) {
  ::signal(SIGPIPE, SIG_IGN);
  if (count != 4) return static_cast<int>(ExitCode::usage);
  const auto number = [&](int at) { return static_cast<std::size_t>(std::stoul(arguments[at])); };
  const test::Style& style = test::styles.at(number(1));
  test::Script script([] {});
  script.tell(NodeId{1}, Hook::stop, static_cast<test::Act>(number(2)));
  net::NodeOptions options;
  options.config.self = NodeId{1};
  options.config.nodes = {NodeId{1}};
  options.config.timings = test::patient();
  options.network.addresses[NodeId{1}] = arguments[3];
  options.cluster = "name=test\n";
  test::Running running;
  test::Running hooks;
  net::Node node(
      running.context, options,
      std::make_unique<storage::MemoryStorage>(std::make_shared<storage::MemoryCells>()),
      [&](Services& services) { return style.make(script, services); },
      hooks.context.get_executor());
  if (const Expected<> started = node.start(); !started) {
    std::cerr << "muster: " << started.error().what << '\n';
    return static_cast<int>(started.error().code);
  }
  char byte = 0;
  while (std::cin.get(byte)) continue;  // the process ends itself, or the test kills it
  return 0;
}
