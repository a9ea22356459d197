#include <muster/journal/replay.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

namespace muster::replay {

Expected<std::optional<Difference>> Replayer::take(const journal::Line& line) {
  if (const auto* header = std::get_if<journal::Header>(&line)) return begin(*header);
  const auto* stamp = std::visit(
      [](const auto& kind) -> const journal::Stamp* {
        if constexpr (requires { kind.stamp; })
          return &kind.stamp;
        else
          return nullptr;
      },
      line);
  if (!stamp) return std::nullopt;  // a fault has no stamp
  const auto found = lives_of_nodes_.find(stamp->node);
  if (found == lives_of_nodes_.end() || found->second.incarnation != stamp->incarnation)
    return Failure{ExitCode::does_not_hold, "node " + to_text(stamp->node) + " in life " +
                                                to_text(stamp->incarnation) +
                                                ": the first line of this life is missing"};
  ReplayedLife& life = found->second;
  if (life.seq && stamp->seq != *life.seq + 1) life.followed = false;
  life.seq = stamp->seq;
  if (const auto* gap = std::get_if<journal::Gap>(&line)) {
    life.state = gap->state;
    life.followed = true;
  }
  const auto* step = std::get_if<journal::Step>(&line);
  return step ? this->step(life, *step) : std::nullopt;
}

std::optional<Difference> Replayer::begin(const journal::Header& line) {
  const auto found = lives_of_nodes_.find(line.node);
  const bool goes_on =
      line.state && found != lives_of_nodes_.end() && found->second.incarnation == line.incarnation;
  if (!goes_on) {
    ++lives_;
    ReplayedLife life{
        line.incarnation, line.config, line.state.value_or(muster::begin(line.config)), {}, true};
    if (!line.state) life.seq = 0;
    lives_of_nodes_.insert_or_assign(line.node, std::move(life));
    return std::nullopt;
  }
  ReplayedLife& life = found->second;
  const bool was_followed = std::exchange(life.followed, true);
  const Protocol before = std::exchange(life.state, *line.state);
  life.config = line.config;
  if (!was_followed || line.gap > 0 || before == life.state) return std::nullopt;
  return Difference{"segment", state_json(life.state), state_json(before)};
}

std::optional<Difference> Replayer::step(ReplayedLife& life, const journal::Step& line) {
  if (!life.followed) {
    ++passed_over_;
    return std::nullopt;
  }
  const Actions actions = muster::step(life.config, life.state, line.event, line.at);
  const View view = muster::view(life.config, life.state);
  if (actions == line.actions && view == line.view) {
    ++exact_;
    return std::nullopt;
  }
  life.followed = false;
  ++passed_over_;
  if (actions != line.actions)
    return Difference{"actions", to_json(line.actions), to_json(actions)};
  return Difference{"state", to_json(line.view), to_json(view)};
}

const Protocol* Replayer::state_of(NodeId node) const {
  const auto found = lives_of_nodes_.find(node);
  return found == lives_of_nodes_.end() || !found->second.followed ? nullptr : &found->second.state;
}

}  // namespace muster::replay
