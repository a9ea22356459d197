#pragma once

#include <muster/claims/verify.hpp>

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

/// `muster verify`: journals merged and checked against assertions and hook grammar.

namespace muster::apps {

struct VerifyOptions {
  std::vector<std::filesystem::path> journals;
  bool json = false;
  std::vector<std::string> assertions{};  ///< judged though their protocol does not claim them
};

/// "not claimed for 3.0 s of 9.0 s (assumption 8: cut)"; empty where an assertion was claimed all
/// the time.
std::string in_words(const verify::Unclaimed::Times& times, Duration whole);

/// Judges the journals; verdicts go to `out`, a reason for any exit code but 0 to `err`. Returns
/// the exit code.
int verify(const VerifyOptions& options, std::ostream& out, std::ostream& err);

}  // namespace muster::apps
