#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace muster::test {

inline std::string written_in(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace muster::test
