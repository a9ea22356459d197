#include "core/values/all_types.hpp"
#include "generate.hpp"

#include <muster/values/archive.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

namespace muster::test {
namespace {

// Two different values must differ in several properties. Returns the name of the first property
// that is the same for both; empty if all differ.
template <class T>
std::string alike(const T& left, const T& right) {
  if (left == right) return "equality";
  if (hash(left) == hash(right)) return "hash";
  if (to_text(left) == to_text(right)) return "text";
  if (to_json(left) == to_json(right)) return "JSON";
  if (encode(left) == encode(right)) return "archive";
  return "";
}

template <class T, class Field>
void expect_field_counts(std::uint64_t seed) {
  const T value = generate<T>(seed);
  T changed = value;
  while (changed.*Field::pointer == value.*Field::pointer)
    changed.*Field::pointer = generate<FieldType<T, Field>>(++seed);
  const std::string forgotten_by = alike(value, changed);
  BOOST_TEST(forgotten_by == "",
             type_name<T>() << '.' << Field::name << " does not count for " << forgotten_by);
}

BOOST_AUTO_TEST_CASE(every_field_counts_everywhere) {
  for_each_type<StructsWithFields>([]<class T>(boost::mp11::mp_identity<T>) {
    boost::mp11::mp_for_each<FieldsOf<T>>([]<class Field>(Field) {
      for (std::uint64_t seed = 0; seed < 5; ++seed) expect_field_counts<T, Field>(seed);
    });
  });
}

BOOST_AUTO_TEST_CASE(every_text_is_one_line) {
  for_each_type<AllTypes>([]<class T>(boost::mp11::mp_identity<T>) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const std::string text = to_text(generate<T>(seed));
      BOOST_TEST(!text.empty());
      BOOST_TEST((text.find_first_of("\n\r") == std::string::npos), text);
    }
  });
}

}  // namespace
}  // namespace muster::test
