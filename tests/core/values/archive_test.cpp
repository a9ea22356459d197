#include <muster/protocol/bully.hpp>
#include <muster/values/archive.hpp>
#include <muster/values/text.hpp>

#include <boost/serialization/list.hpp>
#include <boost/serialization/split_member.hpp>
#include <boost/test/unit_test.hpp>

#include <list>
#include <string>

namespace muster {
namespace {

std::string bytes_of(std::string_view hexadecimal) {
  std::string bytes;
  std::string digits;
  for (char c : hexadecimal) {
    if (c == ' ') continue;
    digits += c;
    if (digits.size() < 2) continue;
    bytes += static_cast<char>(std::stoi(digits, nullptr, 16));
    digits.clear();
  }
  return bytes;
}

template <class T>
std::string error_of(std::string_view hexadecimal, Limits limits = {}) {
  const auto read = decode<T>(bytes_of(hexadecimal), limits);
  return read ? "no error: " + to_text(*read) : read.error().what;
}

BOOST_AUTO_TEST_SUITE(archive)

// These bytes are on disks and in messages. A change here needs a new version of both formats.
BOOST_AUTO_TEST_CASE(has_these_bytes) {
  BOOST_TEST(encode(Halt{{NodeId{5}, Incarnation{4}, 2}}) ==
             bytes_of("05000000 0400000000000000 0200000000000000"));
  BOOST_TEST(encode(Message(Answer{Refused{"no"}})) == bytes_of("05 05 02000000 6e6f 00"));
  BOOST_TEST(encode(NodeSet{NodeId{258}, NodeId{1}}) == bytes_of("02000000 01000000 02010000"));
  BOOST_TEST(encode(Status::Normal) == bytes_of("03"));
  BOOST_TEST(encode(Duration(-1)) == bytes_of("ffffffffffffffff"));
  SafeState safe{Incarnation{9}, 17, Assigned{{"x"}, {16, NodeId{4}}}, {}, {}};
  safe.vector = {Status::Election, {}, NodeId{5}, {NodeId{1}}};
  safe.seen = {{NodeId{5}, Incarnation{4}}};
  BOOST_TEST(encode(safe) == bytes_of("0900000000000000 1100000000000000"
                                      "01 01000000 78 1000000000000000 04000000"
                                      "01 00 01 05000000 01000000 01000000"
                                      "01000000 05000000 0400000000000000"
                                      "00000000"));
  safe.instances = {{NodeId{5}, Instance{258}}};
  BOOST_TEST(encode(safe).ends_with(bytes_of("01000000 05000000 0201000000000000")));
}

BOOST_AUTO_TEST_CASE(says_where_the_bytes_are_none) {
  BOOST_TEST(error_of<Halt>("05000000 04") == "byte 4 of 5: the bytes end too early");
  BOOST_TEST(error_of<Status>("03 00") == "byte 1 of 2: surplus bytes at the end");
  BOOST_TEST(error_of<Status>("04") == "byte 1 of 1: a value that has no name");
  BOOST_TEST(error_of<bool>("02") == "byte 1 of 1: neither true nor false");
  BOOST_TEST(error_of<std::optional<bool>>("02") ==
             "byte 1 of 1: an optional value that is neither present nor absent");
  BOOST_TEST(error_of<Message>("0f") == "byte 1 of 1: an alternative that does not exist");
  BOOST_TEST(error_of<NodeSet>("02000000 02000000 01000000") ==
             "byte 12 of 12: a set whose ids do not ascend");
  BOOST_TEST(error_of<NodeSet>("02000000 02000000 02000000") ==
             "byte 12 of 12: a set whose ids do not ascend");
  BOOST_TEST((error_of<std::map<NodeId, bool>>("02000000 02000000 00 02000000 00")) ==
             "byte 14 of 14: a map whose keys do not ascend");
  BOOST_TEST(decode<Halt>("").error().code == ExitCode::storage_refused);
}

BOOST_AUTO_TEST_CASE(holds_counts_against_the_bytes_left) {
  BOOST_TEST(error_of<Bytes>("ffffffff 00") == "byte 4 of 5: the bytes end too early");
  BOOST_TEST(error_of<Members>("02000000 00") ==
             "byte 4 of 5: a count too large for the bytes that are left");
  BOOST_TEST(error_of<NodeSet>("ffff0000") ==
             "byte 4 of 4: a count too large for the bytes that are left");
  BOOST_TEST(error_of<bully::Calls>("01000000 00000000 00000000 000000") ==
             "byte 4 of 15: a count too large for the bytes that are left");
}

BOOST_AUTO_TEST_CASE(has_limits) {
  BOOST_TEST(error_of<Bytes>("01000000 00", {.bytes = 4}) ==
             "byte 0 of 5: more bytes than the limit");
  BOOST_TEST(error_of<NodeSet>("02000000 01000000 02000000", {.elements = 1}) ==
             "byte 4 of 12: more elements than the limit");
  // The limit counts the elements of all containers together.
  const std::vector<NodeSet> sets{{NodeId{1}}, {NodeId{1}}};
  BOOST_TEST(!decode<std::vector<NodeSet>>(encode(sets), {.elements = 3}));
  BOOST_TEST(decode<std::vector<NodeSet>>(encode(sets), {.elements = 4}).has_value());
  // Elements that take no bytes also count towards the limit.
  BOOST_TEST(error_of<std::vector<Leaving>>("ffffffff") ==
             "byte 4 of 4: more elements than the limit");
}

// Numbers from any sender are below this limit, so adding to them never overflows.
BOOST_AUTO_TEST_CASE(refuses_incarnations_and_counters_that_nothing_counts_to) {
  const auto takes = [](const auto& value) {
    return decode<std::remove_cvref_t<decltype(value)>>(encode(value)).has_value();
  };
  for (const std::uint64_t number : {highest_number, highest_number + 1, ~std::uint64_t{}}) {
    const bool allowed = number == highest_number;
    BOOST_TEST(takes(Incarnation{number}) == allowed);
    BOOST_TEST(takes(GroupNumber{number, {1}}) == allowed);
    BOOST_TEST(takes(Halted{number}) == allowed);
    BOOST_TEST(takes(invitation::Coordinating{true, std::nullopt, number}) == allowed);
    BOOST_TEST(takes(invitation::Invited{true, number}) == allowed);
    Letter letter;
    letter.incarnation = {number};
    BOOST_TEST(takes(letter) == allowed);
    letter = {};
    letter.message = NewCoordinator{{}, {}, {number, {3}}};
    BOOST_TEST(takes(letter) == allowed);
    SafeState safe;
    safe.incarnation = {number};
    BOOST_TEST(takes(safe) == allowed);
    BOOST_TEST(takes(CallNumber{number}));
  }
  BOOST_TEST(error_of<Incarnation>("01000000 00000040") ==
             "byte 8 of 8: a number beyond 4611686018427387904");
}

struct Box {
  std::vector<Box> inside;
};
MUSTER_DESCRIBE(Box, inside);

BOOST_AUTO_TEST_CASE(refuses_values_nested_too_deeply) {
  Box box;
  for (int i = 0; i < 7; ++i) box = Box{{box}};
  BOOST_TEST(decode<Box>(encode(box)).has_value());
  for (int i = 0; i < 100; ++i) box = Box{{box}};
  const auto read = decode<Box>(encode(box));
  BOOST_TEST_REQUIRE(!read);
  BOOST_TEST(read.error().what == "byte 32 of 432: values nested more deeply than the limit");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(archive_of_boost_members)

// An ordinary class for Boost.Serialization. It contains a described value and a standard
// container.
class Ledger {
 public:
  std::list<std::uint16_t> entries;
  Holdings holdings;
  double balance{};
  std::uint8_t marks[3]{};

 private:
  friend class boost::serialization::access;
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& boost::serialization::make_nvp("entries", entries);
    archive& holdings& balance& marks;
  }
};

BOOST_AUTO_TEST_CASE(goes_both_ways) {
  Ledger ledger;
  ledger.entries = {1, 515};
  ledger.holdings = {{"x"}, GroupNumber{1, NodeId{2}}, {}, false};
  ledger.balance = -0.5;
  ledger.marks[2] = 7;
  const std::string bytes = encode(ledger);
  BOOST_TEST(bytes.substr(0, 8) == bytes_of("02000000 0100 0302"));
  const auto read = decode<Ledger>(bytes);
  BOOST_TEST_REQUIRE(read.has_value());
  BOOST_TEST(read->entries == ledger.entries, boost::test_tools::per_element());
  BOOST_TEST(read->holdings == ledger.holdings);
  BOOST_TEST(read->balance == -0.5);
  BOOST_TEST(read->marks[2] == 7);
}

BOOST_AUTO_TEST_CASE(refuses_a_forged_count) {
  BOOST_TEST(!decode<Ledger>(bytes_of("ffffff7f 0100 0302")));
}

// A user's class may throw any type.
struct Stubborn {
  template <class Archive>
  void serialize(Archive&, unsigned) {
    if constexpr (Archive::is_loading::value) throw std::logic_error("not today");
  }
};

BOOST_AUTO_TEST_CASE(turns_what_members_throw_into_failures) {
  const auto read = decode<Stubborn>(encode(Stubborn{}));
  BOOST_TEST_REQUIRE(!read);
  BOOST_TEST(read.error().what == "not today");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(checksums)

BOOST_AUTO_TEST_CASE(are_crc_32) {
  BOOST_TEST(checksum("") == 0u);
  BOOST_TEST(checksum("123456789") == 0xCBF43926u);  // as in catalogues of checksums
  BOOST_TEST(checksum("The quick brown fox jumps over the lazy dog") == 0x414FA339u);
}

BOOST_AUTO_TEST_CASE(see_every_change_of_one_byte) {
  std::string bytes = encode(Ready{{}, {}, {}, {std::string(50, 'x')}});
  const std::uint32_t before = checksum(bytes);
  for (char& c : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      c = static_cast<char>(c ^ (1 << bit));
      BOOST_TEST(checksum(bytes) != before);
      c = static_cast<char>(c ^ (1 << bit));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster
