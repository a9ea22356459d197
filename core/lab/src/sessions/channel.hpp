#pragma once

#include <muster/host/sessions.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// The channel between two nodes that the worlds of `muster check` assume
/// (core/lab/src/checker/local.cpp), as one life sees it. Letters of one life arrive in order and
/// without gaps, then its end is reported, and then the letters of the next life arrive. A call
/// stays unanswered after its bound, or if no life is left that could answer it. The channel runs
/// beside the sessions that ship, and everything that they report must be one of its moves.

namespace muster::lab::sessions {

using muster::operator==;

/// The claim that was violated; empty if none was.
using Complaint = std::string;

/// The place of a letter among the letters of its sender's life, and the life that the letter
/// names: the life that it calls, or the life that has called.
struct Tag {
  std::uint64_t letter{};
  Incarnation life;
};

Message call_to_node(std::uint64_t letter);
Message call_to_life(NodeId sender, std::uint64_t letter, Incarnation life);
Message answer_to(std::uint64_t letter, Incarnation caller);
Tag tag_of(Message message);
/// The fields of a tag in a message; null if the message names no life.
struct Places {
  std::uint64_t* letter{};
  std::uint64_t* life{};
};
Places places_in(Message& message);

/// A call that awaits its answer.
struct Awaited {
  CallNumber call;
  std::uint64_t letter{};
  std::optional<Incarnation> life;
  std::uint64_t taken_by{};  ///< the instance that has received the call
  bool met_nobody = false;   ///< the called node was down at some time since the call was made
};
MUSTER_DESCRIBE(Awaited, call, letter, life, taken_by, met_nobody);

/// An answer that has not arrived yet, to a call that is awaited.
struct Answering {
  std::uint64_t letter{};
  std::uint64_t caller{};  ///< the caller's instance
  CallNumber call;
};
MUSTER_DESCRIBE(Answering, letter, caller, call);

/// The channel between the two nodes, as one life sees it.
struct Channel {
  std::vector<Awaited> awaited;
  std::vector<Answering> answering;
  std::uint64_t letters{};  ///< calls and answers so far
  std::uint64_t with{};     ///< the instance whose letters arrive
  std::uint64_t last{};     ///< the place of the last letter that arrived
  Incarnation over;         ///< the last life that was reported to be over
  Incarnation outlived;     ///< lives before this one are outlived

  void called(CallNumber call, std::uint64_t letter, std::optional<Incarnation> life, bool is_up);
  [[nodiscard]] bool awaits(CallNumber call) const;
  /// True if that call is awaited and names no life.
  [[nodiscard]] bool calls_the_node(CallNumber call) const;
  /// The life of the other node has ended.
  void is_alone();
  /// The call is no longer awaited, so its answer need not arrive.
  void awaited_no_more(std::uint64_t caller, CallNumber call);
  /// A letter has arrived. `from` is the channel at its sender, if that life still works.
  Complaint on_letter(const host::LetterCame& came, std::uint64_t instance, const host::Self& self,
                      Channel* from);
  /// `came_due`: the bound of the call has passed. `up`: the present life of the other node.
  Complaint unanswered(CallNumber call, bool came_due, std::optional<Incarnation> up);
  /// `of`: the instance that is reported to be over. `up`: the instance that works at that node; 0:
  /// none.
  Complaint life_over(Incarnation life, std::uint64_t of, std::uint64_t up);
};
MUSTER_DESCRIBE(Channel, awaited, answering, letters, with, last, over, outlived);

}  // namespace muster::lab::sessions
