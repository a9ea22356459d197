#pragma once

#include "types.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// The bytes of an input as choices, one after the other. After the last byte each choice is 0.

namespace muster::fuzz {

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : left_(reinterpret_cast<const char*>(data), size) {}

  [[nodiscard]] bool empty() const { return left_.empty(); }
  std::uint8_t byte() {
    if (left_.empty()) return 0;
    const char first = left_.front();
    left_.remove_prefix(1);
    return static_cast<std::uint8_t>(first);
  }
  /// True for one byte in `many`.
  bool one_in(unsigned many) { return byte() % many == many - 1; }
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : byte() % bound; }
  std::uint32_t number() {
    std::uint32_t number = 0;
    for (int i = 0; i < 4; ++i) number = number << 8 | byte();
    return number;
  }
  std::string_view bytes(std::size_t most) {
    const std::string_view taken = left_.substr(0, most);
    left_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view left_;
};

/// Checks that the text may be written to a log: printable, one line, and not too long.
inline void require_presentable(std::string_view sentence, std::size_t most = 2000) {
  require(!sentence.empty() && sentence.size() <= most);
  require(std::all_of(sentence.begin(), sentence.end(),
                      [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != '\x7f'; }));
}

}  // namespace muster::fuzz
