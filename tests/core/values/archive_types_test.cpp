#include "core/values/all_types.hpp"
#include "generate.hpp"

#include <muster/values/archive.hpp>
#include <muster/values/hash.hpp>

#include <boost/test/unit_test.hpp>

namespace muster::test {
namespace {

constexpr std::uint64_t values_of_each = 60;

// These are plain functions, not templates, so that each type costs little to compile.
void expect(bool holds, std::string_view what, std::string_view type, std::uint64_t seed) {
  BOOST_TEST(holds, what << ": " << type << ", seed " << seed);
}

template <class T>
void expect_same_back() {
  for (std::uint64_t seed = 0; seed < values_of_each; ++seed) {
    const T value = generate<T>(seed);
    const auto back = decode<T>(encode(value));
    expect(back && *back == value && hash(*back) == hash(value), "same back", type_name<T>(), seed);
  }
}

template <class T>
void expect_other_sizes_refused() {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const std::string bytes = encode(generate<T>(seed));
    for (std::size_t size = 0; size < bytes.size(); ++size)
      expect(!decode<T>(std::string_view(bytes).substr(0, size)), "too few", type_name<T>(), seed);
    expect(!decode<T>(bytes + '\0'), "too many", type_name<T>(), seed);
  }
}

template <class T>
void expect_one_text_for_each_value() {
  Generator accidents(1);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    std::string bytes = encode(generate<T>(seed));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const char before = bytes[i];
      bytes[i] = static_cast<char>(bytes[i] ^ static_cast<char>(1 + accidents.below_or_at(254)));
      const auto read = decode<T>(bytes);
      expect(!read || encode(*read) == bytes, "its own bytes", type_name<T>(), seed);
      bytes[i] = before;
    }
  }
}

BOOST_AUTO_TEST_SUITE(archive_of_every_type)

BOOST_AUTO_TEST_CASE(gives_back_what_it_took) {
  for_each_type<AllTypes>([]<class T>(boost::mp11::mp_identity<T>) { expect_same_back<T>(); });
}

// The bytes of one value are never a prefix of another value's bytes, so a reader always notices
// missing bytes.
BOOST_AUTO_TEST_CASE(refuses_too_few_and_too_many_bytes) {
  for_each_type<AllTypes>(
      []<class T>(boost::mp11::mp_identity<T>) { expect_other_sizes_refused<T>(); });
}

// Bytes that were changed by accident give another value, or no value. Two different texts never
// give the same value.
BOOST_AUTO_TEST_CASE(has_one_text_for_each_value) {
  for_each_type<AllTypes>(
      []<class T>(boost::mp11::mp_identity<T>) { expect_one_text_for_each_value<T>(); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
