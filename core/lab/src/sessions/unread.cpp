// The items that have arrived at a node and have not been read: a verdict must not pass over them.

#include "session_world.hpp"

#include <algorithm>

namespace muster::lab::sessions {

namespace {

/// Nothing is read after the end of a connection.
template <class Predicate>
bool has_letter(const Side& side, const Predicate& predicate) {
  for (const Parcel& parcel : side.coming) {
    const auto* frame = std::get_if<host::Frame>(&parcel);
    if (!frame) return false;
    const auto* carried = std::get_if<host::Carried>(frame);
    if (carried && predicate(carried->letter)) return true;
  }
  return false;
}

/// True if `predicate` holds of an open side of the node, and the other side of its connection.
template <class Predicate>
bool any_side(const SessionWorld& world, unsigned node, const Predicate& predicate) {
  return std::any_of(world.links.begin(), world.links.end(), [&](const Link& link) {
    const bool has_dialled = link.dialler.node == node;
    const Side& mine = has_dialled ? link.dialler : link.acceptor;
    return mine.open && predicate(mine, has_dialled ? link.acceptor : link.dialler);
  });
}

}  // namespace

bool has_ended(const Side& side) {
  return std::any_of(side.coming.begin(), side.coming.end(),
                     [](const Parcel& parcel) { return std::holds_alternative<Gone>(parcel); });
}

bool holds_letter(const Side& side) {
  return has_letter(side, [](const Letter&) { return true; });
}

bool has_answer_to_read(const SessionWorld& world, unsigned node, CallNumber call) {
  return any_side(world, node, [&](const Side& mine, const Side&) {
    return has_letter(
        mine, [&](const Letter& letter) { return is_answer(letter) && letter.call == call; });
  });
}

bool has_letter_to_read(const SessionWorld& world, unsigned node, std::uint64_t of) {
  return any_side(world, node, [&](const Side& mine, const Side& theirs) {
    return theirs.instance == of && holds_letter(mine);
  });
}

bool has_hello_to_read(const SessionWorld& world, unsigned node, std::uint64_t of) {
  return any_side(world, node, [&](const Side& mine, const Side& theirs) {
    if (theirs.instance != of || !theirs.open || has_ended(mine) || mine.coming.empty())
      return false;
    const auto* frame = std::get_if<host::Frame>(&mine.coming.front());
    return frame && std::holds_alternative<host::Hello>(*frame);
  });
}

}  // namespace muster::lab::sessions
