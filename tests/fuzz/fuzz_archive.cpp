#include "fuzz/types.hpp"

#include <muster/values/archive.hpp>

/// Bytes are one value or none: what is read from them is written as the same bytes again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  fuzz::with_type(input, []<class T>(boost::mp11::mp_identity<T>, std::string_view bytes) {
    const auto value = decode<T>(bytes, {.bytes = 1 << 16});
    if (value) fuzz::require(encode(*value) == bytes);
  });
  return 0;
}
