// kv NODE PORT: runs node 1, 2 or 3 of three. Node n listens at port PORT + n of 127.0.0.1.
//
// It takes lines from standard input. "KEY = VALUE" (with the spaces) writes, "KEY ?" reads. Only
// the primary answers.
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
      // The application is used on its own executor only: the one its hooks run on.
      boost::asio::post(node.hooks, [&kv, key, what, value] {
        if (kv) what == "=" ? kv->write(key, value) : kv->read(key);
      });
    }
  }).detach();
  node.run();
  std::quick_exit(0);  // not exit(): the thread still waits for a line
}
