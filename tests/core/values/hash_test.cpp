#include <muster/protocol/bully.hpp>
#include <muster/values/hash.hpp>
#include <muster/values/text.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

namespace muster {
namespace {

BOOST_AUTO_TEST_SUITE(digests)

// The published values of XXH64 with seed 0.
BOOST_AUTO_TEST_CASE(are_xxh64) {
  BOOST_TEST(to_text(digest("")) == "ef46db3751d8e999");
  BOOST_TEST(to_text(digest("a")) == "d24ec4f1a98c6e5b");
  BOOST_TEST(to_text(digest("abc")) == "44bc2cf5ad770999");
  BOOST_TEST(to_text(digest("Nobody inspects the spammish repetition")) == "fbcea83c8a378bf1");
}

// The bytes with which the xxHash project checks itself. The sizes are chosen so that whole
// stripes, words or single bytes remain at the end.
BOOST_AUTO_TEST_CASE(are_xxh64_for_each_shape_of_the_end) {
  std::string bytes;
  for (std::uint32_t generator = 2654435761; bytes.size() < 101; generator *= generator)
    bytes += static_cast<char>(generator >> 24);
  BOOST_TEST(to_text(digest(bytes.substr(0, 1))) == "4fce394cc88952d8");
  BOOST_TEST(to_text(digest(bytes.substr(0, 14))) == "cffa8db881bc3a3d");
  BOOST_TEST(to_text(digest(bytes)) == "0eab543384f878ad");
}

BOOST_AUTO_TEST_CASE(see_every_byte) {
  std::string bytes(32 * 1024 + 13, '\0');
  const Digest before = digest(bytes);
  for (std::size_t i = 0; i < bytes.size(); i += 97) {
    bytes[i] = 1;
    BOOST_TEST(digest(bytes) != before, "byte " << i);
    bytes[i] = 0;
  }
  BOOST_TEST(digest(bytes.substr(1)) != before);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(hashes)

BOOST_AUTO_TEST_CASE(of_equal_values_are_equal) {
  bully::State state;
  const bully::State copy = state;
  BOOST_TEST(hash(state) == hash(copy));
  state.procedure = bully::SeekingHigher{{{CallNumber{1}, NodeId{5}}}, {NodeId{4}}};
  BOOST_TEST(hash(state) != hash(copy));
}

// The boundary between two values is part of the hashed data.
BOOST_AUTO_TEST_CASE(tell_apart_where_values_end) {
  const std::vector<std::string> joined{"ab", ""};
  const std::vector<std::string> split{"a", "b"};
  BOOST_TEST(hash(joined) != hash(split));
  BOOST_TEST(hash(std::optional<unsigned>(0)) != hash(std::optional<unsigned>()));
  BOOST_TEST(hash(std::vector<std::optional<NodeId>>{NodeId{1}, std::nullopt}) !=
             hash(std::vector<std::optional<NodeId>>{std::nullopt, NodeId{1}}));
  BOOST_TEST(hash(std::vector<NodeSet>{{}, {NodeId{1}}}) !=
             hash(std::vector<NodeSet>{{NodeId{1}}, {}}));
  BOOST_TEST(hash(Message(AreYouThere{})) != hash(Message(Answer{})));
}

// States contain mostly small numbers, so no two of these may have the same hash.
BOOST_AUTO_TEST_CASE(of_small_numbers_differ) {
  std::vector<std::uint64_t> seen;
  for (std::uint64_t counter = 0; counter < 200; ++counter)
    for (std::uint32_t node = 0; node < 50; ++node)
      seen.push_back(hash(GroupNumber{counter, NodeId{node}}));
  std::sort(seen.begin(), seen.end());
  BOOST_TEST((std::adjacent_find(seen.begin(), seen.end()) == seen.end()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster
