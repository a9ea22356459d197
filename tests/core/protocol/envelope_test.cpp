#include <muster/detail/values/kinds.hpp>
#include <muster/protocol/letter.hpp>

#include <boost/test/unit_test.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

/// The fields of a message that name its sender or its receiver must agree with the letter around
/// it. The test changes each field of each kind of message that names a node, a life, an election
/// or a group.

namespace muster::test {
namespace {

const NodeId sender{3}, receiver{1}, somebody{2};
const Incarnation life{7}, another_life{8};

/// The node that a field of a message must name: the sender, the receiver, or any node.
enum class Names { the_sender, the_receiver, anybody };

/// All fields that name a node. The test fails for a new field until this table has a row for it.
const std::map<std::string, Names> places{
    {"AreYouNormal.group", Names::the_sender},
    {"Halt.election", Names::the_sender},
    {"NewCoordinator.election", Names::the_sender},
    {"NewCoordinator.receiver", Names::anybody},  // `step` compares it with its own life
    {"NewCoordinator.group", Names::the_sender},
    {"Ready.election", Names::the_sender},
    {"Ready.receiver", Names::anybody},
    {"Ready.group", Names::the_sender},
    {"AreYouThere.group", Names::the_receiver},  // a member asks its coordinator
    {"Invitation.group", Names::anybody},        // the old coordinator forwards it
    {"Accept.group", Names::the_receiver},
    {"Accept.holdings.group", Names::anybody},
    {"Coordinator.group", Names::the_sender},
    {"Joined.holdings.group", Names::anybody},
    {"Coordinating.group", Names::the_sender},  // all bools are true here: the answer is yes
    {"Elsewhere.group", Names::anybody},
    {"ByQuorum.rights.group", Names::the_sender},
};

/// The field to which the test gives a false value, and the index of that value.
struct Lie {
  std::string place;
  std::size_t way{};
};

/// Walks an object and sets a true value in each of its fields, except in one.
class Teller {
 public:
  explicit Teller(std::optional<Lie> lie = std::nullopt) : lie_(std::move(lie)) {}

  template <class Value>
  void walk(const std::string& place, Value& value) {
    if constexpr (AnyOptional<Value>) {
      walk(place, value.emplace());
    } else if constexpr (AnyVector<Value>) {
      value.resize(1);
      walk(place, value.front());
    } else if constexpr (std::is_same_v<Value, bool>) {
      value = true;
    } else if constexpr (requires { tell(true, sender, value, 0); }) {
      came_to(place, value);
    } else if constexpr (Described<Value>) {
      boost::mp11::mp_for_each<FieldsOf<Value>>(
          [&](auto field) { walk(place + "." + field.name, value.*field.pointer); });
    }
  }

  /// The fields that name the sender or the receiver, and for each the number of possible false
  /// values.
  std::map<std::string, std::size_t> seen;

 private:
  // The values for a field: number 0 is true, and the others are false.
  static std::size_t tell(bool of_sender, NodeId node, ElectionId& election, std::size_t way) {
    const ElectionId ways[] = {{node, life, 9},
                               {somebody, life, 9},
                               {of_sender ? receiver : sender, life, 9},
                               {node, another_life, 9},
                               {node, Incarnation{highest_number - 1}, 9}};
    election = ways[way];
    return std::size(ways);
  }
  static std::size_t tell(bool of_sender, NodeId node, GroupNumber& group, std::size_t way) {
    const GroupNumber ways[] = {
        {5, node}, {5, somebody}, {5, of_sender ? receiver : sender}, {5, NodeId{}}};
    group = ways[way];
    return std::size(ways);
  }
  static std::size_t tell(bool, NodeId node, NodeId& named, std::size_t way) {
    named = way == 0 ? node : somebody;
    return 2;
  }
  static std::size_t tell(bool, NodeId, Incarnation& named, std::size_t way) {
    named = way == 0 ? life : another_life;
    return 2;
  }

  template <class Value>
  void came_to(const std::string& place, Value& value) {
    const auto at = places.find(place);
    BOOST_TEST_REQUIRE((at != places.end()), place << " names a node, and nobody says which");
    if (at->second == Names::anybody) {
      tell(true, somebody, value, 1);
      return;
    }
    const bool of_sender = at->second == Names::the_sender;
    const std::size_t way = lie_ && lie_->place == place ? lie_->way : 0;
    seen[place] = tell(of_sender, of_sender ? sender : receiver, value, way);
  }

  std::optional<Lie> lie_;
};

/// A letter that contains a value of that kind, as a call, as an answer, or as data that a letter
/// carries.
template <class Kind>
Letter letter_of(Teller& teller) {
  Kind said{};
  teller.walk(std::string(type_name<Kind>()), said);
  Letter letter{sender, life, receiver, CallNumber{1}, AreYouFree{}};
  if constexpr (std::is_same_v<Kind, ByQuorum>)
    letter.by_quorum = said;
  else if constexpr (std::is_constructible_v<Message, Kind>)
    letter.message = said;
  else
    letter.message = Answer{said};
  return letter;
}

template <class Kind>
void try_all_lies() {
  Teller honest;
  BOOST_TEST(repeats_its_envelope(letter_of<Kind>(honest)), type_name<Kind>());
  for (const auto& [place, ways] : honest.seen)
    for (std::size_t way = 1; way < ways; ++way) {
      Teller liar(Lie{place, way});
      BOOST_TEST(!repeats_its_envelope(letter_of<Kind>(liar)), place << " lies, way " << way);
    }
}

template <class... Kinds>
void try_each(const std::variant<Kinds...>*) {
  (
      [] {
        if constexpr (!std::is_same_v<Kinds, Answer>) try_all_lies<Kinds>();
      }(),
      ...);
}

BOOST_AUTO_TEST_SUITE(envelope)

BOOST_AUTO_TEST_CASE(is_repeated_by_every_kind_of_letter_in_each_place_that_names_one_of_its_two) {
  try_each(static_cast<const Message*>(nullptr));
  try_each(static_cast<const Result*>(nullptr));
  try_all_lies<ByQuorum>();
}

// A member names the group to which it was assigned last, and a coordinator names the group in
// which it works. Either may be a group of any node.
BOOST_AUTO_TEST_CASE(is_not_repeated_by_answers_that_name_other_groups) {
  Letter letter{sender, life, receiver, CallNumber{1}, AreYouFree{}};
  const GroupNumber of_somebody{5, somebody};
  letter.message = Answer{invitation::Coordinating{false, of_somebody, 5}};
  BOOST_TEST(repeats_its_envelope(letter));
  letter.message = Answer{invitation::Coordinating{true, std::nullopt, 5}};
  BOOST_TEST(!repeats_its_envelope(letter));
  letter.by_quorum.emplace();
  letter.by_quorum->rights = {Rights{of_somebody, {}, {}}, Rights{std::nullopt, {}, {}, true}};
  letter.message = Answer{Here{}};
  BOOST_TEST(repeats_its_envelope(letter));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace muster::test
