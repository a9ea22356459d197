#pragma once

#include <muster/host/sessions.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// The channel between two nodes in the worlds of `muster check` (core/lab/src/checker/local.cpp),
/// as one life sees it: letters of one life of the other come in order and with none left out, then
/// that the life is over, then those of the next; a call stays unanswered after its bound, or where
/// nobody is left who could answer it. It runs beside the sessions that ship: all that they tell
/// has to be one of its moves.

namespace muster::lab::sessions {

using muster::operator==;

/// What was wrong; empty where nothing was.
using Complaint = std::string;

/// A letter's place among those of its life, and the life that it names: whom it calls, or who has
/// called.
struct Tag {
  std::uint64_t letter{};
  Incarnation life;
};

Message call_to_node(std::uint64_t letter);
Message call_to_life(NodeId sender, std::uint64_t letter, Incarnation life);
Message answer_to(std::uint64_t letter, Incarnation caller);
Tag tag_of(Message message);
/// The same where they stand; null where it names no life.
struct Places {
  std::uint64_t* letter{};
  std::uint64_t* life{};
};
Places places_in(Message& message);

/// A call that its caller awaits.
struct Awaited {
  CallNumber call;
  std::uint64_t letter{};
  std::optional<Incarnation> life;
  std::uint64_t taken_by{};  ///< the instance that it has come to
  bool met_nobody = false;   ///< since it was made its addressee was down
};
MUSTER_DESCRIBE(Awaited, call, letter, life, taken_by, met_nobody);

/// An answer that has not come yet, to a call that is awaited.
struct Answering {
  std::uint64_t letter{};
  std::uint64_t caller{};  ///< its instance
  CallNumber call;
};
MUSTER_DESCRIBE(Answering, letter, caller, call);

struct Channel {
  std::vector<Awaited> awaited;
  std::vector<Answering> answering;
  std::uint64_t letters{};  ///< calls and answers, so far
  std::uint64_t with{};     ///< the instance whose letters come
  std::uint64_t last{};     ///< of its letters
  Incarnation over;         ///< the last life that was told to be over
  Incarnation outlived;     ///< lives before it are, as was seen

  void called(CallNumber call, std::uint64_t letter, std::optional<Incarnation> life, bool is_up);
  [[nodiscard]] bool awaits(CallNumber call) const;
  /// That call is awaited, and of whichever life.
  [[nodiscard]] bool calls_the_node(CallNumber call) const;
  /// The life there has ended.
  void is_alone();
  /// That call is awaited no more: its answer need not come.
  void awaited_no_more(std::uint64_t caller, CallNumber call);
  /// `from` is the channel at the sender, where that life goes on.
  Complaint came(const host::LetterCame& came, std::uint64_t instance, const host::Self& self,
                 Channel* from);
  /// `came_due`: its bound has passed. `up`: the life of the other node.
  Complaint unanswered(CallNumber call, bool came_due, std::optional<Incarnation> up);
  /// `of`: the instance that it is said of, and `up` the one that works there; 0: none.
  Complaint life_over(Incarnation life, std::uint64_t of, std::uint64_t up);
};
MUSTER_DESCRIBE(Channel, awaited, answering, letters, with, last, over, outlived);

}  // namespace muster::lab::sessions
