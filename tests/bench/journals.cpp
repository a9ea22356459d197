#include "apps/lab/repair_option.hpp"

#include <muster/lab/simulator.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/text.hpp>

#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <string>

/// Prints one digest for each seed of a simulation: `bench_journals FIRST LAST [PROTOCOL] [literal]
/// [NAME=VALUE...] [FAULT...]`. A FAULT is a lab::Trouble. If the command line names none, each
/// seed draws its own faults. NAME=VALUE sets an option, or turns a switch on or off. The digest
/// covers each step of each node: the node, its actions and its whole state. Two programs that
/// print the same digests behave alike in these seeds.

using namespace muster;

namespace {

[[noreturn]] void refuse(const std::string& why) {
  std::cerr << "bench_journals: " << why << '\n';
  std::exit(2);
}

void read(const std::string& word, lab::Simulation& simulation, std::set<lab::Trouble>& faults) {
  if (word == "literal") {
    simulation.repairs = Repairs::none();
    simulation.invitation_repairs = invitation::Repairs::none();
  } else if (word.find('=') != std::string::npos) {
    const bool is_switch = word.ends_with("=on") || word.ends_with("=off");
    const auto done = is_switch ? apps::read_repair(word, simulation)
                                : apps::read_option(word, simulation.protocol, simulation.options);
    if (!done) refuse(done.error().what);
  } else if (const auto trouble = enumerator_named<lab::Trouble>(word)) {
    faults.insert(*trouble);
  } else if (const auto protocol = enumerator_named<ProtocolName>(word)) {
    simulation.protocol = *protocol;
  } else {
    refuse(word + " is no protocol, option, switch or fault");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) refuse("give the first and the last seed");
  lab::Simulation simulation;
  std::set<lab::Trouble> faults;
  for (int i = 3; i < argc; ++i) read(argv[i], simulation, faults);
  if (!faults.empty()) simulation.allowed = faults;
  Hasher digest;
  simulation.stepped = [&](NodeId node, const Actions& actions, const Protocol& state) {
    digest.add(node);
    digest.add(actions);
    digest.add(state);
  };
  const std::uint64_t last = std::stoull(argv[2]);
  for (std::uint64_t seed = std::stoull(argv[1]); seed <= last; ++seed) {
    digest = {};
    const std::uint64_t steps = lab::run_seed(simulation, seed).steps;
    std::cout << seed << ' ' << std::hex << std::setw(16) << std::setfill('0') << digest.finish()
              << std::dec << ' ' << steps << '\n';
  }
}
