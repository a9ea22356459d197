// Asio is compiled here, once; every other file sees its declarations only.
#include <boost/asio/impl/src.hpp>
