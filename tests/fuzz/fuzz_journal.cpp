#include "fuzz/types.hpp"

#include <muster/journal/journal.hpp>

/// Property: a value that was read from a line of a journal can be written as a line and read back.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const auto line = journal::parse_line({reinterpret_cast<const char*>(data), size});
  if (!line) return 0;
  std::string written;
  journal::append_line(written, *line);
  fuzz::require(written.ends_with('\n') && written.find('\n') == written.size() - 1);
  written.pop_back();
  const auto again = journal::parse_line(written);
  fuzz::require(again.has_value() && *again == *line);
  return 0;
}
