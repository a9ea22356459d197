#pragma once

#include <sstream>
#include <string>

namespace muster::test {

/// What a command has said, and how it ended.
struct Said {
  int code = 0;
  std::string out;
  std::string err;
};

/// `command(options, out, err)`.
template <class Options>
Said said_by(int (*command)(const Options&, std::ostream&, std::ostream&), const Options& options) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = command(options, out, err);
  return {code, out.str(), err.str()};
}

}  // namespace muster::test
