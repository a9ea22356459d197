#pragma once

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace muster::test {

using Words = std::vector<std::string>;

/// Whether `text` contains `part`. If it does not, the failed check shows both.
inline boost::test_tools::assertion_result says(const std::string& text, const std::string& part) {
  boost::test_tools::assertion_result found(text.find(part) != std::string::npos);
  if (!found) found.message() << "\"" << part << "\" does not stand in \"" << text << "\"";
  return found;
}

/// The failure in a result. Fails the test if the result has a value instead.
template <class Expected>
auto failure_of(const Expected& result) {
  BOOST_TEST_REQUIRE(result.has_error());
  return result.error();
}

}  // namespace muster::test

// Makes Boost.Test compare and print lists of words element by element.
BOOST_TEST_SPECIALIZED_COLLECTION_COMPARE(muster::test::Words)
