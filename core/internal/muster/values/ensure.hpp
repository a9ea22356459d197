#pragma once

#include <muster/detail/values/export.hpp>

#include <boost/assert/source_location.hpp>

#include <stdexcept>
#include <string>

namespace MUSTER_EXPORT muster {

/// A state that cannot occur: a defect of Muster itself. The host of a node ends the process at
/// once with exit code 70. So the defect becomes a failure of the node (assumption 5) before it can
/// affect another node.
struct ImpossibleState : std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] inline void impossible(const char* what, const boost::source_location& where) {
  throw ImpossibleState(std::string("impossible state: not ") + what + ", at " + where.file_name() +
                        ":" + std::to_string(where.line()));
}

}  // namespace muster

/// An assertion that is checked in every build. If it does not hold, the node ends.
#define MUSTER_ENSURE(condition) \
  ((condition) ? void() : ::muster::impossible(#condition, BOOST_CURRENT_LOCATION))
