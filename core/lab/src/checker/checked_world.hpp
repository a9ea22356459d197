#pragma once

#include "intern.hpp"
#include "local.hpp"
#include "numbers.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

/// The checker's world: nodes and letters by their numbers, and what may happen next.

namespace muster::lab::explored {

constexpr std::size_t most_nodes = 5;
constexpr std::size_t most_waiting = 10;  ///< calls of one node; a world with more is cut
constexpr std::size_t most_items = 64;

/// What is left of each kind of trouble; 15 is without bound. Four bits each.
enum class Trouble : std::uint8_t {
  failure,
  wrong_timeout,
  duplicate,
  loss,
  pause,
  leave,
  hook,
  difference,
  restore,
  tick,
  cut,  ///< 1: the links of Bounds::cuts are cut
};

/// All nodes and all that is on its way.
struct CheckedWorld {
  std::array<std::uint32_t, most_nodes> node{};
  std::uint64_t left = 0;                                      ///< four bits for each Trouble
  std::array<std::uint8_t, most_nodes * most_nodes> length{};  ///< of the queue of `to` from `from`
  std::uint8_t items = 0;
  std::array<std::uint32_t, most_items> item{};  ///< queue after queue

  [[nodiscard]] unsigned remaining(Trouble trouble) const {
    return static_cast<unsigned>(left >> 4 * static_cast<unsigned>(trouble) & 15);
  }
  void spend(Trouble trouble) {
    if (remaining(trouble) != 15) left -= std::uint64_t{1} << 4 * static_cast<unsigned>(trouble);
  }
};

/// What happens: an Op at a node, or what befalls a letter.
struct Label {
  enum class What : std::uint8_t { op, lose_last, lose, duplicate, tick } what{};
  Op op{};
  std::uint8_t node = 0;             ///< from 0
  std::uint8_t peer = 0;             ///< from 0
  std::uint8_t index = 0;            ///< of a timer, of a call that waits, of an item in the queue
  std::uint8_t fails_after = whole;  ///< so many actions of what it does, where it does not do all

  static constexpr std::uint8_t whole = 255;
};

/// What has to be known of a node without looking at its bytes.
struct LocalFacts {
  struct Waits {
    std::uint8_t to = 0;
    bool given_up = false;
    std::uint32_t number = 0;
    std::uint32_t sent_to = 0;
    std::uint32_t named = 0;  ///< the life that it is to; 0: to the node
  };
  struct Owes {
    std::uint8_t to = 0;
    std::uint32_t number = 0;
  };
  bool up = false, paused = false, returns = false, leaving = false;
  bool hook_ends = false, hook_may_fail = false, ceased = true, works = false;
  bool other = false;            ///< its configuration
  bool copied = false;           ///< its store was
  bool outvoted = false;         ///< takes no part
  std::uint8_t differ = 0;       ///< those that it has met, bit by bit
  bool right_is_due = false;     ///< the timer `right` may expire
  bool works_until_now = false;  ///< its right is over: it has ceased before time goes on
  std::uint16_t timers = 0;
  std::uint8_t waiting = 0, owing = 0, granting = 0;
  std::uint32_t life = 0;
  NodeId halted_by;  ///< in Election
  NodeId joined;     ///< in Reorganization
  std::array<std::uint32_t, most_nodes> with{};
  std::array<Waits, most_waiting> waits{};
  std::array<Owes, 6> owes{};
  std::array<Owes, 12> granted{};  ///< may still be told that they were heard
  std::array<std::uint32_t, most_nodes> heard{};
  std::uint32_t standing = 0;
  std::uint32_t numbers = 0;
};

struct ItemFacts {
  bool letter = false, answer = false, new_life = false;
  Acts acts = Acts::whatever;
  std::uint32_t call = 0;
  std::uint32_t life = 0;   ///< of the sender
  std::uint32_t heard = 0;  ///< the grant that it tells
  std::uint32_t numbers = 0;
};

struct Nothing {};

/// What a step of one node made of it, by numbers.
struct Outcome {
  struct Put {
    std::uint8_t to = 0, from = 0;
    bool front = false;
    std::uint32_t item = 0;
    std::uint32_t life = 0;  ///< 0: whichever
  };
  std::uint32_t next = 0;
  std::uint32_t wrong = 0;        ///< 1 + index
  std::uint32_t reorganizes = 0;  ///< 1 + index
  std::uint8_t actions = 0;       ///< performed
  bool fits = true;               ///< false: more calls would wait than are looked at
  std::vector<Put> puts;
};

/// What all threads share: the values by their numbers.
class Values {
 public:
  explicit Values(const Bounds& bounds);

  std::uint32_t local(Local& local);  ///< forgets what is dead in it
  std::uint32_t item(Item& item);
  std::uint32_t not_waited(std::uint32_t item);  ///< the same call, of which nobody waits
  [[nodiscard]] Local local(std::uint32_t id) const;
  [[nodiscard]] Item item(std::uint32_t id) const;
  std::uint32_t numbers(const Numbers& numbers);
  [[nodiscard]] const Numbers& numbers(std::uint32_t id) const { return signatures.facts(id); }
  [[nodiscard]] Standing standing(std::uint32_t id) const;
  std::uint32_t wrong(Wrong wrong);
  [[nodiscard]] Wrong wrong(std::uint32_t id);
  std::uint32_t members(Members members);
  [[nodiscard]] Members members(std::uint32_t id);
  [[nodiscard]] std::uint64_t memory() const;

  [[nodiscard]] bool looks_at(std::string_view assertion) const;

  const Bounds bounds;
  std::vector<Config> configs;
  bool by_their_tests = false;       ///< calls_act_by_their_tests
  bool counters_begin_anew = false;  ///< with a life, from 0: then their ranks are not enough
  bool has_clocks = false;           ///< and time, which passes tick by tick
  bool of_groups = false;  ///< several groups may be at work: Assertions 3 and 4 are claimed
  Interner<LocalFacts> locals;
  Interner<ItemFacts> items;
  Interner<Nothing> standings;
  Interner<Numbers> signatures;

 private:
  LocalFacts facts_of(Local& local);
  ItemFacts facts_of(Item& item);
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, std::uint32_t> not_waited_;
  std::vector<std::string> looked_at_;
  std::vector<Wrong> wrongs_;
  std::vector<Members> members_;
};

/// Worlds with numbers as small as their order allows; one for each thread.
class Canonical {
 public:
  explicit Canonical(Values& values) : values_(values), cache_(cached) {}
  void operator()(CheckedWorld& world, std::size_t nodes);
  /// Has what that one will need fetched.
  void expect(const CheckedWorld& world, std::size_t nodes) const;

  [[nodiscard]] std::uint64_t memory() const {
    return cache_.size() * sizeof(Cached) + locals_.memory() + items_.memory();
  }

 private:
  static constexpr std::size_t cached = std::size_t{1} << 18;
  struct Cached {
    std::uint64_t key = 0;
    std::array<std::uint32_t, 20> numbers{};
  };
  /// What a world is known by: the numbers in its objects, which go to `numbers_of(i, numbers)`.
  template <class NumbersOf>
  std::uint64_t key_of(const CheckedWorld& world, std::size_t nodes,
                       const NumbersOf& numbers_of) const;
  void compute(const std::uint32_t* before, std::uint32_t* after, std::size_t objects);
  template <class Read, class Write>
  std::uint32_t renamed_value(Memo<std::uint32_t>& memo, std::uint32_t id, std::uint32_t before,
                              std::uint32_t numbers, const Read& read, const Write& write);
  std::uint32_t renamed_local(std::uint32_t id, std::uint32_t numbers);
  std::uint32_t renamed_item(std::uint32_t id, std::uint32_t numbers);

  Values& values_;
  Table<Cached> cache_;
  Memo<std::uint32_t> locals_, items_;
  Numbers merged_, numbers_;  // of compute, that it need not ask for memory
  Renaming renaming_;         // likewise
};

/// Takes steps of worlds; one for each thread.
class Mover {
 public:
  explicit Mover(Values& values);

  /// Where the search begins.
  [[nodiscard]] CheckedWorld first();
  [[nodiscard]] CheckedWorld all_down();
  /// The way from there to where the search begins.
  [[nodiscard]] std::vector<Label> opening();
  /// Whether that is a failure, a recovery or another trouble: what has ceased when Assertion 2 is
  /// asked for.
  [[nodiscard]] bool disturbs(const CheckedWorld& world, const Label& label) const;
  /// All that may happen in that world.
  void labels(const CheckedWorld& world, std::vector<Label>& out);
  /// What comes of it; false where a queue would be too long. `wrong` is 1 + the index of what does
  /// not hold.
  bool move(CheckedWorld& world, const Label& label, std::uint32_t& wrong,
            Witness* witness = nullptr) {
    const bool fits = step(world, label, wrong, witness);
    if (fits) make_canonical(world);
    return fits;
  }
  /// The two parts of it. Between them the memory that the second needs is on its way.
  bool step(CheckedWorld& world, const Label& label, std::uint32_t& wrong,
            Witness* witness = nullptr);
  void make_canonical(CheckedWorld& world) {
    if (!values_.bounds.canonical) return;
    forget_granted(world);
    canonical_(world, nodes());
  }
  /// The canonical form of a world with true numbers, whose values those are.
  CheckedWorld canonical_of(const Values& true_values, const CheckedWorld& world);
  /// That the next letter to that node from that one is taken, if nothing can come of it.
  [[nodiscard]] std::optional<Label> ineffective_first(const CheckedWorld& world, std::uint8_t to,
                                                       std::uint8_t from) const;
  /// What does not hold in that world.
  std::optional<Wrong> judge(const CheckedWorld& world);
  /// From here on the links of Bounds::cuts are cut.
  void cut_links(CheckedWorld& world) const;
  /// Whether Assertion 2 holds there; 4 in the Invitation, and for each set of connected nodes when
  /// links are cut.
  bool settled(const CheckedWorld& world);
  [[nodiscard]] std::vector<Standing> standings(const CheckedWorld& world) const;
  [[nodiscard]] std::uint64_t cut() const { return cut_; }
  /// A bit for each Trouble that came about.
  [[nodiscard]] std::uint32_t came_about() const { return came_about_; }
  [[nodiscard]] std::uint64_t memory() const {
    return memo_.memory() + parts_.memory() + outcomes_.size() * (sizeof(Outcome) + 32) +
           canonical_.memory();
  }

 private:
  static constexpr unsigned enough_room = 8;

  [[nodiscard]] std::size_t nodes() const { return values_.bounds.nodes; }
  [[nodiscard]] std::uint64_t key_of_standings(const CheckedWorld& world) const;
  [[nodiscard]] const LocalFacts& facts(const CheckedWorld& world, std::size_t i) const {
    return values_.locals.facts(world.node[i]);
  }
  /// Whether nothing passes between the two.
  [[nodiscard]] bool is_cut(const CheckedWorld& world, std::size_t i, std::size_t j) const {
    return (cut_from_[i] >> j & 1) != 0 && world.remaining(Trouble::cut) != 0;
  }
  [[nodiscard]] std::size_t queue(std::size_t to, std::size_t from) const {
    return to * nodes() + from;
  }
  [[nodiscard]] std::size_t begin_of(const CheckedWorld& world, std::size_t queue) const;
  void labels_of(const CheckedWorld& world, std::size_t i, std::vector<Label>& out);
  void labels_of_parts(const CheckedWorld& world, std::size_t i, std::size_t begin,
                       std::vector<Label>& out);
  [[nodiscard]] bool under_way(const CheckedWorld& world, std::size_t i) const;
  void labels_between(const CheckedWorld& world, std::size_t i, std::size_t j,
                      std::vector<Label>& out);
  [[nodiscard]] bool have_learned(const CheckedWorld& world) const;
  [[nodiscard]] bool time_may_pass(const CheckedWorld& world) const;
  [[nodiscard]] bool may_expire(const CheckedWorld& world, const LocalFacts& node,
                                Timer timer) const;
  void let_pass(CheckedWorld& world);
  void spend(CheckedWorld& world, Trouble trouble) {
    world.spend(trouble);
    came_about_ |= 1u << static_cast<unsigned>(trouble);
  }
  [[nodiscard]] unsigned copies(const CheckedWorld& world) const;
  [[nodiscard]] bool can_be_answered(const CheckedWorld& world, std::size_t i,
                                     const LocalFacts::Waits& call) const;
  void erase(CheckedWorld& world, std::size_t queue, std::size_t position);
  bool push(CheckedWorld& world, std::size_t to, std::size_t from, std::uint32_t item, bool front);
  bool apply(CheckedWorld& world, std::size_t i, std::uint32_t code, std::uint32_t& wrong,
             std::uint8_t fails_after = Label::whole);
  bool put(CheckedWorld& world, const Outcome& outcome, std::uint32_t& wrong);
  bool meet_differing(CheckedWorld& world, std::size_t i, std::size_t j);
  bool recover(CheckedWorld& world, std::size_t i, std::uint32_t& wrong, std::uint8_t fails_after);
  [[nodiscard]] std::uint32_t code_of(const CheckedWorld& world, const Label& label) const;
  [[nodiscard]] bool waits(const CheckedWorld& world, std::size_t i, std::size_t to,
                           std::uint32_t call) const;
  void drop_dead(CheckedWorld& world, std::size_t i);
  void forget_calls(CheckedWorld& world, std::size_t i);
  void forget_granted(CheckedWorld& world);
  [[nodiscard]] bool may_tell(const CheckedWorld& world, std::size_t i, std::size_t member,
                              std::uint32_t call) const;
  struct Reception;
  [[nodiscard]] Reception reception(const CheckedWorld& world, std::size_t to,
                                    std::size_t from) const;
  void drop_ineffective(CheckedWorld& world, std::size_t to, std::size_t from);
  const Outcome& outcome(std::uint32_t local, std::uint32_t code,
                         std::uint8_t fails_after = Label::whole);
  Outcome compute(std::uint32_t local, std::uint32_t code, std::uint8_t fails_after);
  void check_members(const CheckedWorld& world, const Outcome& outcome, std::uint32_t& wrong);

  Values& values_;
  Canonical canonical_;
  Memo<std::uint32_t> memo_, parts_;
  std::deque<Outcome> outcomes_;
  Memo<bool> well_, settled_;
  Witness* witness_ = nullptr;
  unsigned room_;                                    ///< of a queue, in letters
  std::array<std::uint8_t, most_nodes> cut_from_{};  ///< Bounds::cuts, bit by bit
  std::uint64_t cut_ = 0;
  std::uint32_t came_about_ = 0;
};

/// Fields of Bounds that allow some of a trouble of which `came_about` has no bit.
std::vector<std::string> never_came_about(const Values& values, std::uint32_t came_about);

/// The code of an Op with its argument, where it is no `take`, whose code is the item's number.
constexpr std::uint32_t code_of(Op op, std::uint32_t argument = 0) {
  return static_cast<std::uint32_t>(op) << 28 | argument;
}

}  // namespace muster::lab::explored
