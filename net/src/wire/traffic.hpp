#pragma once

#include <muster/detail/values/kinds.hpp>
#include <muster/host/frame.hpp>

#include <boost/mp11/list.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

namespace muster::net {

/// Counts the traffic with other nodes by kind of frame. Counting has to be cheap, as each frame is
/// counted. So the counters are an array with a fixed place for each kind.
struct Traffic {
  static constexpr std::size_t kinds =
      std::variant_size_v<host::Frame> + std::variant_size_v<Message>;
  static constexpr std::size_t reasons =
      boost::mp11::mp_size<boost::describe::describe_enumerators<host::RefusalReason>>::value;

  struct Kind {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
  };
  struct Way {
    std::array<Kind, kinds> by_kind{};
    std::array<std::uint64_t, reasons> refusals{};  ///< refused Hellos, by reason

    void count(const host::Frame& frame, std::size_t bytes);
    Way& operator+=(const Way& other);
  };
  Way in;
  Way out;

  Traffic& operator+=(const Traffic& other) {
    in += other.in;
    out += other.out;
    return *this;
  }

  /// The name of the kind at that place of `by_kind`: of a letter's message, or of another frame.
  static std::string_view name_of(std::size_t kind);
};

}  // namespace muster::net
