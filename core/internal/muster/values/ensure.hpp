#pragma once

#include <muster/detail/values/export.hpp>

#include <boost/assert/source_location.hpp>

#include <stdexcept>
#include <string>

namespace MUSTER_EXPORT muster {

/// A state that cannot be: a fault of Muster itself. Whoever hosts a node ends it at once (exit
/// code 70): by assumption 5 a fault is turned into a failure before it can affect anybody else.
struct ImpossibleState : std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] inline void impossible(const char* what, const boost::source_location& where) {
  throw ImpossibleState(std::string("impossible state: not ") + what + ", at " + where.file_name() +
                        ":" + std::to_string(where.line()));
}

}  // namespace muster

/// Holds in every build: what must be true, or the node ends.
#define MUSTER_ENSURE(condition) \
  ((condition) ? void() : ::muster::impossible(#condition, BOOST_CURRENT_LOCATION))
