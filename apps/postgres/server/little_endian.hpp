#pragma once

#include <boost/endian/conversion.hpp>

#include <cstddef>
#include <string_view>

namespace muster::postgres {

/// The number at that place in bytes that PostgreSQL has written on a little-endian machine.
template <class Number>
Number number_at(std::string_view bytes, std::size_t at) {
  return boost::endian::endian_load<Number, sizeof(Number), boost::endian::order::little>(
      reinterpret_cast<const unsigned char*>(bytes.data()) + at);
}

}  // namespace muster::postgres
