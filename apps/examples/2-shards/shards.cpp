// shards NODE PORT: runs node 1, 2 or 3 of three. Node n listens at port PORT + n of 127.0.0.1.
#include "shards.hpp"

#include "../one_of_three.hpp"

#include <iostream>

using namespace muster;

int main(int, char** arguments) {
  const auto tell = [](NodeId, std::uint32_t shard, const examples::Record& record) {
    std::cout << "shard " << shard << ": " << record.number << " in group " << record.group.counter
              << '.' << record.group.coordinator.value << std::endl;
  };
  const auto make = [&](Services& node) { return std::make_unique<examples::Shards>(node, tell); };
  examples::OneOfThree("shards", arguments[1], arguments[2], make).run();
}
