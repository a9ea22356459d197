// Asio and its TLS, compiled once by the program itself.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
