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

/// What the fuzz targets share.

namespace muster::fuzz {

/// The types that foreign bytes are read as. The first byte of an input chooses one.
using Types =
    boost::mp11::mp_list<SafeState, Letter, Members, Config, Event, Actions, View, bully::State,
                         Repairs, NodeSet, invitation::State, textbook::State>;

/// Calls `visit` with an mp_identity of the type that the first byte chooses, and the rest.
template <class Visit>
void with_type(std::string_view input, Visit visit) {
  if (input.empty()) return;
  constexpr std::size_t count = boost::mp11::mp_size<Types>::value;
  boost::mp11::mp_with_index<count>(static_cast<unsigned char>(input[0]) % count, [&](auto index) {
    visit(boost::mp11::mp_identity<boost::mp11::mp_at_c<Types, index>>(), input.substr(1));
  });
}

/// Stops the fuzzer where a property does not hold.
inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace muster::fuzz
