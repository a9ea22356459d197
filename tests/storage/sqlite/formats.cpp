#include "storage/store_fixture.hpp"

// Stores of earlier formats, which the repository contains. Every later program must be able to
// read them.

namespace muster::test {
namespace {

namespace fs = std::filesystem;

/// A store as a program of that format has left it after three lives.
struct Golden : StoreFixture {
  void take(std::uint32_t format) const {
    fs::create_directory(directory);
    fs::permissions(directory, fs::perms::owner_all);
    const fs::path golden = fs::path(MUSTER_GOLDEN) / ("format-" + std::to_string(format));
    for (const fs::path& own : {file, log}) put_bytes(own, bytes_of(golden / own.filename()));
  }
  [[nodiscard]] storage::Inspection inspected() const {
    return storage::inspect(directory, [](std::string_view, const Bytes&) {}).value();
  }
  void holds(const SafeState& safe) const {
    const auto store = open().value();
    BOOST_TEST(store->load().value() == safe);
    BOOST_TEST(cells_of(*store) == (Cells{{"cell", "3"}}));
  }
};

SafeState without_instances() {
  SafeState safe = safe_state(3);
  safe.instances.clear();
  return safe;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(a_store_of_format, Golden)

BOOST_AUTO_TEST_CASE(one_or_two_is_read_as_it_is_and_made_one_of_format_three_when_it_is_opened) {
  for (const std::uint32_t format : {1U, 2U}) {
    const SafeState safe = format == 1 ? without_instances() : safe_state(3);
    take(format);
    const auto before = content();
    BOOST_TEST(inspected().format == format);
    BOOST_TEST(inspected().safe == safe);
    BOOST_TEST(content() == before);
    holds(safe);
    BOOST_TEST(inspected().format == 3u);
    BOOST_TEST(bytes_of(file).at(63) == 3);  // an older program refuses it
    open().value()->save(safe_state(4)).value();
    BOOST_TEST(inspected().safe == safe_state(4));
    fs::remove_all(directory);
  }
}

BOOST_AUTO_TEST_CASE(one_or_two_is_refused_where_something_stands_behind_what_holds_of_its_log) {
  for (const std::uint32_t format : {1U, 2U}) {
    take(format);
    std::string bytes = bytes_of(log);
    const std::size_t second_page = 32 + 4120 + 24;
    bytes[second_page] = static_cast<char>(bytes[second_page] ^ 1);
    put_bytes(log, bytes);
    require_refused(
        {"was cut off or damaged, and its older format", "start the program that wrote it"});
    fs::remove_all(directory);
  }
}

BOOST_AUTO_TEST_CASE(three_is_read_as_it_is) {
  take(3);
  BOOST_TEST(inspected().format == 3u);
  BOOST_TEST(inspected().safe == safe_state(3));
  holds(safe_state(3));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace muster::test
