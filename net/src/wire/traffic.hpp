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

/// What has gone over connections to other nodes, by kind: to be counted for every frame, so it is
/// a few numbers at a known place.
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
    std::array<std::uint64_t, reasons> refusals{};  ///< of Hellos, by their reason

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

  /// What `by_kind` has at that place: the name of a letter's message, or of another frame.
  static std::string_view name_of(std::size_t kind);
};

}  // namespace muster::net
