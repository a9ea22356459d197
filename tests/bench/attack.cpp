#include "net/attack/campaign.hpp"

#include <boost/describe/enum_from_string.hpp>
#include <boost/describe/enum_to_string.hpp>

#include <cstdlib>
#include <iomanip>
#include <iostream>

// ./dev bench attack [SECONDS_PER_PROTOCOL] [SEED] [KIND]: attacks real nodes of each protocol.
// Exit code 1 if a node behaved wrongly. The output then contains the command line that repeats the
// attack. Exit code 9 if a kind of attack never took place.

using namespace muster;
using test::Attack;

namespace {

std::string name_of(Attack attack) {
  return boost::describe::enum_to_string(attack, "?");
}

void print(const test::CampaignReport& report) {
  std::cout << std::left << std::setw(20) << "" << std::right;
  for (const char* column : {"bursts", "connections", "hellos", "frames", "greeted", "refused"})
    std::cout << std::setw(13) << column;
  for (const auto& [kind, tally] : report.tallies) {
    std::cout << '\n' << std::left << std::setw(20) << name_of(kind) << std::right;
    for (const std::uint64_t count : {tally.bursts, tally.connections, tally.hellos, tally.frames,
                                      tally.greeted, tally.refused})
      std::cout << std::setw(13) << count;
  }
  std::cout << "\nelections that letters started: " << report.elections
            << "\nmemory of a node: at most " << report.resident / 1'000'000 << " MB, "
            << report.descriptors << " descriptors" << std::endl;
}

}  // namespace

int main(int count, char** arguments) {
  test::CampaignOptions options{.program = MUSTER_PROGRAM};
  options.time = std::chrono::seconds(count > 1 ? std::strtol(arguments[1], nullptr, 10) : 60);
  if (count > 2) options.seed = std::strtoull(arguments[2], nullptr, 10);
  Attack only{};
  if (count > 3 && !boost::describe::enum_from_string(arguments[3], only)) {
    std::cerr << "bench_attack: there is no kind of attack '" << arguments[3] << "'\n";
    return 2;
  }
  if (count > 3) options.only = only;
  bool missing = false;
  for (const ProtocolName protocol :
       {ProtocolName::bully, ProtocolName::textbook, ProtocolName::invitation}) {
    options.protocol = protocol;
    std::cout << boost::describe::enum_to_string(protocol, "?") << '\n';
    const test::CampaignReport report = test::attack_trial(options);
    print(report);
    if (!report.wrong.empty()) {
      std::cout << "WRONG: " << report.wrong << std::endl;
      return 1;
    }
    if (options.only) continue;
    for (const Attack kind : report.missing()) {
      std::cout << "never occurred: " << name_of(kind) << std::endl;
      missing = true;
    }
  }
  return missing ? 9 : 0;  // a run without some kind of attack proves nothing about that kind
}
