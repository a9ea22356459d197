#include <muster/values/hash.hpp>

#include <cstring>

namespace muster {

namespace {

constexpr std::uint64_t prime_1 = 0x9E3779B185EBCA87;
constexpr std::uint64_t prime_2 = 0xC2B2AE3D27D4EB4F;
constexpr std::uint64_t prime_3 = 0x165667B19E3779F9;
constexpr std::uint64_t prime_4 = 0x85EBCA77C2B2AE63;
constexpr std::uint64_t prime_5 = 0x27D4EB2F165667C5;

// Reads a little-endian word on any machine.
template <class Word>
Word read(const char* at) {
  Word word{};
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&word, at, sizeof word);
  } else {
    for (std::size_t i = sizeof word; i-- > 0;)
      word = static_cast<Word>(word << 8 | static_cast<unsigned char>(at[i]));
  }
  return word;
}

std::uint64_t round(std::uint64_t accumulator, std::uint64_t lane) {
  return std::rotl(accumulator + lane * prime_2, 31) * prime_1;
}

// Steps 1 to 3 of the specification: the whole stripes of 32 bytes. `at` moves past them.
std::uint64_t stripes(const char*& at, const char* end) {
  std::uint64_t lanes[4] = {prime_1 + prime_2, prime_2, 0, 0 - prime_1};
  for (; end - at >= 32; at += 32)
    for (int i = 0; i < 4; ++i) lanes[i] = round(lanes[i], read<std::uint64_t>(at + 8 * i));
  std::uint64_t merged = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
                         std::rotl(lanes[3], 18);
  for (std::uint64_t lane : lanes) merged = (merged ^ round(0, lane)) * prime_1 + prime_4;
  return merged;
}

}  // namespace

Digest digest(std::string_view bytes) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  std::uint64_t result = bytes.size() >= 32 ? stripes(at, end) : prime_5;
  result += bytes.size();
  for (; end - at >= 8; at += 8)
    result = std::rotl(result ^ round(0, read<std::uint64_t>(at)), 27) * prime_1 + prime_4;
  if (end - at >= 4) {
    result = std::rotl(result ^ (read<std::uint32_t>(at) * prime_1), 23) * prime_2 + prime_3;
    at += 4;
  }
  for (; at != end; ++at)
    result = std::rotl(result ^ (static_cast<unsigned char>(*at) * prime_5), 11) * prime_1;
  result = (result ^ (result >> 33)) * prime_2;
  result = (result ^ (result >> 29)) * prime_3;
  return Digest{result ^ (result >> 32)};
}

}  // namespace muster
