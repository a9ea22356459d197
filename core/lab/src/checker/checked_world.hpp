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

/// The checker's world: nodes and letters by their numbers, and the moves that may happen next.

namespace muster::lab::explored {

constexpr std::size_t most_nodes = 5;
/// The largest number of calls of one node. A world with more calls is not searched.
constexpr std::size_t most_waiting = 10;
constexpr std::size_t most_items = 64;

/// The remaining number of each kind of trouble, in four bits each. 15 means unbounded.
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

/// All nodes, and all items on their way.
struct CheckedWorld {
  std::array<std::uint32_t, most_nodes> node{};
  std::uint64_t left = 0;                                      ///< four bits for each Trouble
  std::array<std::uint8_t, most_nodes * most_nodes> length{};  ///< of each queue, by receiver and
                                                               ///< sender
  std::uint8_t items = 0;
  std::array<std::uint32_t, most_items> item{};  ///< queue after queue

  [[nodiscard]] unsigned remaining(Trouble trouble) const {
    return static_cast<unsigned>(left >> 4 * static_cast<unsigned>(trouble) & 15);
  }
  void spend(Trouble trouble) {
    if (remaining(trouble) != 15) left -= std::uint64_t{1} << 4 * static_cast<unsigned>(trouble);
  }
};

/// A move: an Op at a node, or a trouble of a letter.
struct Label {
  enum class What : std::uint8_t { op, lose_last, lose, duplicate, tick } what{};
  Op op{};
  std::uint8_t node = 0;   ///< from 0
  std::uint8_t peer = 0;   ///< from 0
  std::uint8_t index = 0;  ///< the number of the timer, the call, or the item in the queue
  /// The number of actions after which the node fails; whole: it does not.
  std::uint8_t fails_after = whole;

  static constexpr std::uint8_t whole = 255;
};

/// Facts about a node that can be read without decoding its bytes.
struct LocalFacts {
  struct Waits {
    std::uint8_t to = 0;
    bool given_up = false;
    std::uint32_t number = 0;
    std::uint32_t sent_to = 0;
    std::uint32_t named = 0;  ///< the life that the call names; 0: the call is to the node
  };
  struct Owes {
    std::uint8_t to = 0;
    std::uint32_t number = 0;
  };
  bool up = false, paused = false, returns = false, leaving = false;
  bool hook_ends = false, hook_may_fail = false, ceased = true, works = false;
  bool other = false;            ///< has the other configuration
  bool copied = false;           ///< the node's store has been copied
  bool outvoted = false;         ///< takes no part
  std::uint8_t differ = 0;       ///< the nodes that this node knows to differ, bit by bit
  bool right_is_due = false;     ///< the timer `right` may expire
  bool works_until_now = false;  ///< its right is over: the node must cease before time passes
  std::uint16_t timers = 0;
  std::uint8_t waiting = 0, owing = 0, granting = 0;
  std::uint32_t life = 0;
  NodeId halted_by;  ///< in Election
  NodeId joined;     ///< in Reorganization
  std::array<std::uint32_t, most_nodes> with{};
  std::array<Waits, most_waiting> waits{};
  std::array<Owes, 6> owes{};
  std::array<Owes, 12> granted{};  ///< grants that the node's coordinator may still name
  std::array<std::uint32_t, most_nodes> heard{};
  std::uint32_t standing = 0;
  std::uint32_t numbers = 0;
};

struct ItemFacts {
  bool letter = false, answer = false, new_life = false;
  Acts acts = Acts::whatever;
  std::uint32_t call = 0;
  std::uint32_t life = 0;   ///< of the sender
  std::uint32_t heard = 0;  ///< the grant that the item names
  std::uint32_t numbers = 0;
};

struct Nothing {};

/// The result of one step of a node, in numbers.
struct Outcome {
  struct Put {
    std::uint8_t to = 0, from = 0;
    bool front = false;
    std::uint32_t item = 0;
    std::uint32_t life = 0;  ///< 0: any life
  };
  std::uint32_t next = 0;
  std::uint32_t wrong = 0;        ///< 1 + index of the violation; 0: none
  std::uint32_t reorganizes = 0;  ///< 1 + index of the members; 0: none
  std::uint8_t actions = 0;       ///< the number of actions performed
  bool fits = true;               ///< false: more calls would wait than the checker allows
  std::vector<Put> puts;
};

/// The values that all threads share, by their numbers.
class Values {
 public:
  explicit Values(const Bounds& bounds);

  std::uint32_t local(Local& local);  ///< also removes the dead parts of the value
  std::uint32_t item(Item& item);
  std::uint32_t not_waited(std::uint32_t item);  ///< the call in the form for which no node waits
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
  bool by_their_tests = false;    ///< calls_act_by_their_tests
  bool counters_restart = false;  ///< a new life counts groups from 0, so ranks are not enough
  bool has_clocks = false;        ///< time passes, tick by tick
  bool of_groups = false;  ///< several groups may work side by side: Assertions 3 and 4 are claimed
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

/// Gives worlds their canonical form, with numbers as small as their order allows. One for each
/// thread.
class Canonical {
 public:
  explicit Canonical(Values& values) : values_(values), cache_(cached) {}
  void operator()(CheckedWorld& world, std::size_t nodes);
  /// Prefetches the memory that the canonical form of that world needs.
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
  /// A key of the numbers in a world's objects. The numbers are also passed to `numbers_of(i,
  /// numbers)`.
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
  Numbers merged_, numbers_;  // memory of compute(), kept so that each call need not allocate it
  Renaming renaming_;         // likewise
};

/// Makes moves in worlds. One for each thread.
class Mover {
 public:
  explicit Mover(Values& values);

  /// The world in which the search begins.
  [[nodiscard]] CheckedWorld first();
  [[nodiscard]] CheckedWorld all_down();
  /// The moves from all_down() to first().
  [[nodiscard]] std::vector<Label> opening();
  /// True for a failure, a recovery or another trouble. Liveness claims Assertion 2 only when no
  /// such move follows.
  [[nodiscard]] bool disturbs(const CheckedWorld& world, const Label& label) const;
  /// All moves that may happen in that world.
  void labels(const CheckedWorld& world, std::vector<Label>& out);
  /// Makes a move. Returns false if a queue would be too long. `wrong` becomes 1 + the index of a
  /// violation, if there is one.
  bool move(CheckedWorld& world, const Label& label, std::uint32_t& wrong,
            Witness* witness = nullptr) {
    const bool fits = step(world, label, wrong, witness);
    if (fits) make_canonical(world);
    return fits;
  }
  /// The two parts of move(). The first function prefetches the memory that the second needs.
  bool step(CheckedWorld& world, const Label& label, std::uint32_t& wrong,
            Witness* witness = nullptr);
  void make_canonical(CheckedWorld& world) {
    if (!values_.bounds.canonical) return;
    forget_granted(world);
    canonical_(world, nodes());
  }
  /// The canonical form of a world with true numbers, whose values are `true_values`.
  CheckedWorld canonical_of(const Values& true_values, const CheckedWorld& world);
  /// The move that takes the next letter, if that letter can have no effect.
  [[nodiscard]] std::optional<Label> ineffective_first(const CheckedWorld& world, std::uint8_t to,
                                                       std::uint8_t from) const;
  /// The violation of an assertion about that world, or none.
  std::optional<Wrong> judge(const CheckedWorld& world);
  /// Cuts the links of Bounds::cuts from this world on.
  void cut_links(CheckedWorld& world) const;
  /// True if Assertion 2 holds in that world. In the Invitation, Assertion 4 takes its place. If
  /// links are cut, the assertion must hold for each set of connected nodes.
  bool settled(const CheckedWorld& world);
  [[nodiscard]] std::vector<Standing> standings(const CheckedWorld& world) const;
  [[nodiscard]] std::uint64_t cut() const { return cut_; }
  /// One bit for each Trouble that came about.
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
  /// True if no letter passes between the two nodes.
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

/// The fields of Bounds that allow a trouble for which `came_about` has no bit.
std::vector<std::string> never_came_about(const Values& values, std::uint32_t came_about);

/// The code of an Op with its argument. The code of `take` is the item's number.
constexpr std::uint32_t code_of(Op op, std::uint32_t argument = 0) {
  return static_cast<std::uint32_t>(op) << 28 | argument;
}

}  // namespace muster::lab::explored
