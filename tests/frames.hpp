#pragma once

#include <muster/host/frame.hpp>

#include <cstdint>
#include <utility>

/// Frames for tests, made from fields that are named where a test uses them.

namespace muster::test {

/// A Hello of a node that has not met the addressee. All numbers count from 1.
struct HelloFields {
  std::uint32_t from = 0;
  std::uint32_t to = 2;
  std::uint64_t life = 1;
  std::uint64_t instance = 4711;
  std::uint64_t number = 1;  ///< of the dials of that life
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

/// A letter as a session carries it.
struct CarriedFields {
  std::uint32_t from = 0;
  std::uint32_t to = 2;
  std::uint64_t number = 1;  ///< of the letters of the session
  std::uint64_t call = 1;
  Message message = AreYouThere{};
  std::uint64_t acknowledged = 0;  ///< how many letters of the addressee have arrived
  std::uint64_t life = 1;          ///< of the sender
};
inline host::Carried carried(CarriedFields fields) {
  return {fields.number, fields.acknowledged,
          Letter{NodeId{fields.from}, Incarnation{fields.life}, NodeId{fields.to},
                 CallNumber{fields.call}, std::move(fields.message)}};
}

}  // namespace muster::test
