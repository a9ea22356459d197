#include "generate.hpp"
#include "net/frames/golden.hpp"

#include <muster/protocol/bully.hpp>
#include <muster/values/archive.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <new>

/// How much memory bytes from outside can make a node use. This program counts all its allocations.

namespace {

std::size_t taken = 0;    // since `memory_of` began
std::size_t largest = 0;  // the largest single allocation

void* count_and_take(std::size_t size) {
  taken += size;
  largest = std::max(largest, size);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) {
  return count_and_take(size);
}
void* operator new[](std::size_t size) {
  return count_and_take(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace muster::test {
namespace {

// The bytes that `work` allocates, freed or not.
template <class Work>
std::size_t memory_of(Work work) {
  taken = largest = 0;
  work();
  return taken;
}

// The bytes that small allocations may take, such as the sentence of a failure.
constexpr std::size_t small_change = 4096;

// A copy of `bytes` with the four bytes at `at` replaced by an enormous count.
std::string with_count(std::string bytes, std::size_t at, std::uint32_t count) {
  for (std::size_t i = 0; i < 4 && at + i < bytes.size(); ++i)
    bytes[at + i] = static_cast<char>(count >> (8 * i));
  return bytes;
}

constexpr std::uint32_t forged[] = {0xFFFFFFFF, 0x7FFFFFFF, 0x00FFFFFF, 0x0000FFFF, 0x000000FF};

BOOST_AUTO_TEST_CASE(the_count_counts) {
  BOOST_TEST(memory_of([] { std::string(100'000, 'x'); }) >= 100'000u);
  BOOST_TEST(largest >= 100'000u);
}

BOOST_AUTO_TEST_CASE(a_frame_takes_no_more_memory_than_its_bytes_warrant) {
  for (const auto& [name, frame, bytes] : golden_frames()) {
    for (std::size_t at = 10; at < bytes.size(); ++at) {
      for (std::uint32_t count : forged) {
        const std::string changed = repaired(with_count(bytes, at, count));
        net::FrameReader reader;
        const std::span<char> room = reader.room();
        BOOST_REQUIRE(room.size() >= changed.size());
        std::copy(changed.begin(), changed.end(), room.begin());
        reader.filled(changed.size());
        const std::size_t memory = memory_of([&reader] { static_cast<void>(reader.next()); });
        BOOST_TEST(memory <= 2 * changed.size() + small_change, name << ", byte " << at);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_stream_takes_no_more_memory_than_the_largest_frame) {
  net::FrameReader reader;
  const std::string frame = net::encode_frame(net::StatusAnswer{std::string(60'000, 'x')});
  std::vector<net::Frame> frames;
  frames.reserve(4);
  // The buffer doubles until it reaches its limit, and the frame is then read into one string.
  const std::size_t first =
      memory_of([&] { BOOST_REQUIRE(feed(reader, frame, frames).has_value()); });
  BOOST_TEST(first <= 2 * (net::frame_limit + 4) + 60'000 + small_change);
  BOOST_TEST(largest <= net::frame_limit + 4);
  const std::size_t second =
      memory_of([&] { BOOST_REQUIRE(feed(reader, frame, frames).has_value()); });
  BOOST_TEST(second <= 60'000 + small_change);
}

// In the worst case, one byte of an archive is an element of a vector or a map.
template <class T>
void expect_bounded(std::uint64_t seed) {
  const std::string bytes = encode(generate<T>(seed));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (std::uint32_t count : forged) {
      const std::string changed = with_count(bytes, at, count);
      const std::size_t memory = memory_of([&] { static_cast<void>(decode<T>(changed)); });
      BOOST_TEST(memory <= 32 * changed.size() + small_change,
                 type_name<T>() << ", seed " << seed << ", byte " << at);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_archive_takes_no_more_memory_than_its_bytes_warrant) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    expect_bounded<SafeState>(seed);
    expect_bounded<Letter>(seed);
    expect_bounded<Members>(seed);
    expect_bounded<bully::State>(seed);
  }
}

// A container with many elements, each as small in bytes as possible.
BOOST_AUTO_TEST_CASE(the_smallest_elements_take_no_more_memory_than_their_bytes_warrant) {
  const std::string members = encode(Members(3000));
  BOOST_TEST(memory_of([&] { BOOST_REQUIRE(decode<Members>(members).has_value()); }) <=
             32 * members.size());
  const std::string none = encode(std::vector<std::optional<NodeId>>(10'000));
  const auto decode_none = [&none] {
    BOOST_REQUIRE(decode<std::vector<std::optional<NodeId>>>(none).has_value());
  };
  BOOST_TEST(memory_of(decode_none) <= 32 * none.size());
}

}  // namespace
}  // namespace muster::test
