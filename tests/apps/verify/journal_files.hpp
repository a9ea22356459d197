#pragma once

#include "apps/printed.hpp"
#include "storage/temporary_directory.hpp"

#include <muster/journal/journal.hpp>

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

/// Journals as files in a directory of the test.

namespace muster::test {

class JournalFiles {
 public:
  /// The lines as text, in the given order.
  static std::string text_of(const std::vector<journal::Line>& lines) {
    std::string text;
    for (const journal::Line& line : lines) journal::append_line(text, line);
    return text;
  }

  /// Writes a file with this text, or appends the text to it.
  std::filesystem::path write(const std::string& name, const std::string& text,
                              bool append = false) {
    const std::filesystem::path path = directory_.path() / name;
    std::ofstream file(path, std::ios::binary | (append ? std::ios::app : std::ios::trunc));
    file << text;
    BOOST_TEST_REQUIRE(file.good());
    return path;
  }

  std::filesystem::path write(const std::string& name, const std::vector<journal::Line>& lines) {
    return write(name, text_of(lines));
  }

  /// Writes the journal of each node, and the journal of faults, as one file each.
  std::vector<std::filesystem::path> write_each(const std::vector<journal::Line>& lines) {
    std::vector<std::filesystem::path> paths;
    for (std::uint32_t id = 0; id < 10; ++id) {
      std::vector<journal::Line> own;
      for (const journal::Line& line : lines)
        if (node_of(line).value == id) own.push_back(line);
      if (!own.empty()) paths.push_back(write("n" + std::to_string(id) + ".jsonl", text_of(own)));
    }
    return paths;
  }

  [[nodiscard]] std::filesystem::path path(const std::string& name) const {
    return directory_.path() / name;
  }

  /// The node that wrote the line, or 0 for a line of the journal of faults.
  static NodeId node_of(const journal::Line& line) {
    return std::visit(
        [](const auto& kind) {
          if constexpr (requires { kind.stamp; })
            return kind.stamp.node;
          else if constexpr (requires { kind.incarnation; })
            return kind.node;
          else
            return NodeId{};
        },
        line);
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace muster::test
