// Asio, compiled once by the program itself.
#include <boost/asio/impl/src.hpp>
