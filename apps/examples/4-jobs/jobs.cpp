// jobs fill COUNT FILE: puts COUNT jobs into the queue FILE. Do this once, before any node runs.
// jobs NODE PORT FILE: runs node 1, 2 or 3 of three. Node n listens at port PORT + n of 127.0.0.1.
#include "jobs.hpp"

#include "../one_of_three.hpp"

#include <iostream>

using namespace muster;
using examples::Jobs;

int main(int, char** arguments) {
  const std::string first = arguments[1];
  const auto queue = [file = arguments[3]] {
    return net::value_or_exit(storage::FencedStore::open(file));
  };
  if (first == "fill") return Jobs::fill(*queue(), std::stoull(arguments[2])) ? 0 : 1;
  const auto tell = [](NodeId, const GroupNumber& group, std::uint64_t job) {
    std::cout << "job " << job << " in group " << group.counter << std::endl;
  };
  const auto make = [&](Services& node) { return std::make_unique<Jobs>(node, queue(), tell); };
  examples::OneOfThree("jobs", arguments[1], arguments[2], make).run();
}
