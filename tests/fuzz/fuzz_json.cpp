#include "fuzz/types.hpp"

#include <muster/values/json.hpp>

#include <boost/json/parse.hpp>

/// Property: every string can be written as JSON and read back, and so can every value that was
/// read from JSON.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const std::string input(reinterpret_cast<const char*>(data), size);
  fuzz::require(*read_json<std::string>(boost::json::parse(to_json(input))) == input);
  fuzz::require(read_json<Bytes>(boost::json::parse(to_json(Bytes{input})))->data == input);
  fuzz::with_type(input, []<class T>(boost::mp11::mp_identity<T>, std::string_view text) {
    boost::json::error_code error;
    const boost::json::value json = boost::json::parse(text, error);
    if (error) return;
    const auto value = read_json<T>(json);
    if (!value) return;
    const auto back = read_json<T>(boost::json::parse(to_json(*value)));
    fuzz::require(back.has_value() && *back == *value);
  });
  return 0;
}
