#pragma once

#include <boost/test/unit_test.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace muster::test {

/// The output of a command, and its exit code.
struct Printed {
  int code = 0;
  std::string out;
  std::string err;

  [[nodiscard]] bool says(const std::string& text) const {
    return out.find(text) != std::string::npos;
  }
  [[nodiscard]] bool complains(const std::string& text) const {
    return err.find(text) != std::string::npos;
  }
};

/// Calls `command(options, out, err)` and returns what it printed.
template <class Options>
Printed print(int (*command)(const Options&, std::ostream&, std::ostream&),
              const Options& options) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = command(options, out, err);
  return {code, out.str(), err.str()};
}

inline std::ostream& operator<<(std::ostream& out, const Printed& printed) {
  return out << "exit code " << printed.code << '\n' << printed.out << printed.err;
}

/// Checks that the command ended with exit code 0 and printed each of `texts`.
inline void ends_well(const Printed& printed, const std::vector<std::string>& texts) {
  BOOST_TEST(printed.code == 0, printed);
  for (const std::string& text : texts)
    BOOST_TEST(printed.says(text), printed << " lacks " << text);
}

/// Checks that the command ended with that exit code and printed each of `texts` as an error.
inline void ends_with(int code, const Printed& printed, const std::vector<std::string>& texts) {
  BOOST_TEST(printed.code == code, printed);
  for (const std::string& text : texts)
    BOOST_TEST(printed.complains(text), printed << " lacks " << text);
}

inline void fails(const Printed& printed, const std::vector<std::string>& texts) {
  ends_with(1, printed, texts);
}

inline void is_undecided(const Printed& printed, const std::vector<std::string>& texts) {
  ends_with(9, printed, texts);
}

}  // namespace muster::test
