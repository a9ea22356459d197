// It asks for Asio's types from Muster, with another Boost in front.
#include <muster/net/node.hpp>

int main() {}
