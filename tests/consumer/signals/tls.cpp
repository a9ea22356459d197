// A part of the program that uses Asio's TLS.
#include <boost/asio/ssl.hpp>

static boost::asio::ssl::context tls(boost::asio::ssl::context::tlsv13_client);
