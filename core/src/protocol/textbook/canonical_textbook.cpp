#include "../canonical_of.hpp"
#include "../number_walk.hpp"

/// The parts of canonical.cpp that the textbook protocol has for itself.

namespace muster::textbook {

void forget_dead(const Config&, const Surroundings&, State&) {}

namespace {

class Walk : public NumberWalk<Walk> {
 public:
  using NumberWalk::NumberWalk;
  using NumberWalk::operator();

  void operator()(Probing& wait) { visit_.call(self_, wait.call); }
};

}  // namespace

void visit_numbers(NodeId self, State& state, NumberVisitor& visitor) {
  Walk(self, visitor).state(state);
}

}  // namespace muster::textbook
