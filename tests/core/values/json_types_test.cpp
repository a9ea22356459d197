#include "core/values/all_types.hpp"
#include "generate.hpp"

#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

namespace muster::test {
namespace {

template <class T>
std::string fault_of(const T& value) {
  const auto back = read_json<T>(boost::json::parse(to_json(value)));
  if (!back) return back.error().what;
  return *back == value ? "" : "another value: " + to_text(*back);
}

BOOST_AUTO_TEST_CASE(json_of_every_type_gives_back_what_it_took) {
  for_each_type<AllTypes>([]<class T>(boost::mp11::mp_identity<T>) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      const std::string fault = fault_of(generate<T>(seed));
      BOOST_TEST(fault == "", type_name<T>() << ", seed " << seed << ": " << fault);
    }
  });
}

}  // namespace
}  // namespace muster::test
