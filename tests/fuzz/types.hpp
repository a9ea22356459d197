#pragma once

#include <muster/protocol/protocol.hpp>

#include <boost/mp11/algorithm.hpp>
#include <boost/mp11/list.hpp>
#include <boost/mp11/utility.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

/// Shared parts of the fuzz targets.

namespace muster::fuzz {

/// The types that nodes read from foreign bytes. The first byte of an input selects one of these
/// types.
using Types =
    boost::mp11::mp_list<SafeState, Letter, Members, Config, Event, Actions, View, bully::State,
                         Repairs, NodeSet, invitation::State, textbook::State>;

/// Calls `visit` with the selected type as an mp_identity, and with the remaining bytes.
template <class Visit>
void with_type(std::string_view input, Visit visit) {
  if (input.empty()) return;
  constexpr std::size_t count = boost::mp11::mp_size<Types>::value;
  boost::mp11::mp_with_index<count>(static_cast<unsigned char>(input[0]) % count, [&](auto index) {
    visit(boost::mp11::mp_identity<boost::mp11::mp_at_c<Types, index>>(), input.substr(1));
  });
}

/// Stops the fuzzer if a property does not hold.
inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace muster::fuzz
