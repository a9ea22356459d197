#pragma once

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace muster::test {

using Words = std::vector<std::string>;

}  // namespace muster::test

// Lists of words are compared, and printed, element by element.
BOOST_TEST_SPECIALIZED_COLLECTION_COMPARE(muster::test::Words)
