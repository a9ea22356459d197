#pragma once

#include <muster/claims/verify.hpp>

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

/// `muster verify`: merges journals and checks them against assertions and the hook grammar.

namespace muster::apps {

struct VerifyOptions {
  std::vector<std::filesystem::path> journals;
  bool json = false;
  std::vector<std::string> assertions{};  ///< judged even if the protocol does not claim them
};

/// "not claimed for 3.0 s of 9.0 s (assumption 8: cut)"; empty if the assertion was claimed all the
/// time.
std::string in_words(const verify::Unclaimed::Times& times, Duration whole);

/// Judges the journals. Prints verdicts to `out`, and to `err` the reason of an exit code other
/// than 0. Returns the exit code.
int verify(const VerifyOptions& options, std::ostream& out, std::ostream& err);

}  // namespace muster::apps
