// Uses Asio's types from Muster, although the compiler finds a different Boost first.
#include <muster/net/node.hpp>

int main() {}
