#pragma once

#include "storage/temporary_directory.hpp"

#include <muster/storage/fenced_store.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

namespace muster::test {

inline GroupNumber group(std::uint64_t counter, std::uint32_t coordinator) {
  return {counter, NodeId{coordinator}};
}

/// A file for a fenced store in a directory of its own.
struct FencedFixture {
  TemporaryDirectory temporary;
  std::filesystem::path file = temporary.path() / "jobs.sqlite";

  std::unique_ptr<storage::FencedStore> open(const storage::FencedOptions& options = {}) const {
    auto opened = storage::FencedStore::open(file, options);
    BOOST_TEST_REQUIRE(opened.has_value(), (opened ? "" : opened.error().what));
    return std::move(*opened);
  }
};

/// Adds one to the number in a cell, in one transaction. Returns the sum.
inline Expected<int> add_one(storage::FencedStore& store, const GroupNumber& by) {
  int sum = 0;
  auto done = store.apply(by, [&](storage::FencedStore::Transaction& cells) -> Expected<> {
    auto before = cells.read("sum");
    if (!before) return before.error();
    sum = (*before ? std::stoi((*before)->data) : 0) + 1;
    return cells.write("sum", Bytes{std::to_string(sum)});
  });
  if (!done) return done.error();
  return sum;
}

inline int sum_in(storage::FencedStore& store) {
  const auto sum = store.read("sum").value();
  return sum ? std::stoi(sum->data) : 0;
}

}  // namespace muster::test
