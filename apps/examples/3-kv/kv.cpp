// kv NODE PORT: one of three nodes, ports PORT + 1 to 3. Takes lines: "KEY = VALUE" and "KEY ?".
#include "kv.hpp"

#include "../one_of_three.hpp"

#include <iostream>
#include <thread>

using namespace muster::examples;

int main(int, char** arguments) {
  KeyValue* kv = nullptr;
  const auto tell = [](const std::string& line) { std::cout << line << std::endl; };
  const auto make = [&](muster::Services& node) {
    return std::make_unique<KeyValue>(node, tell, kv);
  };
  OneOfThree node("kv", arguments[1], arguments[2], make);
  std::thread([&] {
    for (std::string key, what, value; std::cin >> key >> what;) {
      if (what == "=") std::cin >> value;
      boost::asio::post(node.hooks, [&kv, key, what, value] {
        if (kv) what == "=" ? kv->write(key, value) : kv->read(key);
      });
    }
  }).detach();
  node.run();
  std::quick_exit(0);  // the thread waits for a line
}
