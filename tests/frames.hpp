#pragma once

#include <muster/host/frame.hpp>

#include <cstdint>
#include <utility>

/// Frames for tests. A test names the fields that it sets.

namespace muster::test {

/// A Hello of a node that has not met the addressee. All numbers count from 1.
struct HelloFields {
  std::uint32_t from = 0;
  std::uint32_t to = 2;
  std::uint64_t life = 1;
  std::uint64_t instance = 4711;
  std::uint64_t number = 1;  ///< number of the dial within that life
};
inline host::Hello hello_of(const HelloFields& fields) {
  host::Hello hello;
  hello.from = NodeId{fields.from};
  hello.to = NodeId{fields.to};
  hello.incarnation = Incarnation{fields.life};
  hello.instance = fields.instance;
  hello.number = fields.number;
  hello.session = 1;
  return hello;
}

/// A letter in a frame of a session.
struct CarriedFields {
  std::uint32_t from = 0;
  std::uint32_t to = 2;
  std::uint64_t number = 1;  ///< number of the letter in the session
  std::uint64_t call = 1;
  Message message = AreYouThere{};
  std::uint64_t acknowledged = 0;  ///< number of the addressee's letters that have arrived
  std::uint64_t life = 1;          ///< life of the sender
};
inline host::Carried carried(CarriedFields fields) {
  return {fields.number, fields.acknowledged,
          Letter{NodeId{fields.from}, Incarnation{fields.life}, NodeId{fields.to},
                 CallNumber{fields.call}, std::move(fields.message)}};
}

}  // namespace muster::test
