// cron NODE PORT FILE: runs node 1, 2 or 3 of three. Node n listens at port PORT + n of 127.0.0.1.
// All three use the same FILE.
#include "cron.hpp"

#include "../one_of_three.hpp"

#include <iostream>

using namespace muster;
using namespace std::chrono_literals;
using examples::Cron;

int main(int, char** arguments) {
  const auto now = [] {
    return std::chrono::floor<Cron::Time>(std::chrono::system_clock::now()).time_since_epoch();
  };
  const auto tell = [](const std::string& job, Cron::Time due) {
    std::cout << job << " of " << due.count() << std::endl;
  };
  const Cron::Jobs jobs{{"backup", 50ms}, {"mail", 70ms}, {"report", 110ms}};
  const auto make = [&](Services& node) {
    auto file = net::value_or_exit(storage::FencedStore::open(arguments[3]));
    return std::make_unique<Cron>(node, std::move(file), jobs, now, tell);
  };
  examples::OneOfThree("cron", arguments[1], arguments[2], make).run();
}
