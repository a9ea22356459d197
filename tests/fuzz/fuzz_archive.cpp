#include "fuzz/types.hpp"

#include <muster/values/archive.hpp>

/// Property: bytes are either no value or exactly one. If they are a value, writing that value
/// gives the same bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  fuzz::with_type(input, []<class T>(boost::mp11::mp_identity<T>, std::string_view bytes) {
    const auto value = decode<T>(bytes, {.bytes = 1 << 16});
    if (value) fuzz::require(encode(*value) == bytes);
  });
  return 0;
}
