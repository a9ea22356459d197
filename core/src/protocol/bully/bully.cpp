#include "bully_turn.hpp"

#include <muster/values/hash.hpp>

#include <type_traits>

namespace muster::bully {

Actions step(const Config& config, State& state, const Event& event, Moment at) {
  return BullyTurn(config, state, at).take(event);
}

View view(const Config& config, const State& state, const View& before) {
  View view;
  view.status = state.s;
  if (state.c) view.coordinator = state.c->candidate;
  view.group = state.g;
  if (state.h) view.halted_by = state.h->candidate;
  if (view.coordinator == config.self) {
    view.up.emplace();
    for (const Member& j : state.up) view.up->insert(j.node);
  }
  if (state.s == Status::Normal) view.definition = digest_of(state.d, state.g, before);
  view.procedure = wait_of(state.procedure);
  view.application = state.application;
  if (view.coordinator == config.self)
    for (const auto& [node, unsteady] : state.by_options.calm.unsteady)
      if (unsteady.held) view.held.by_node[node] = *unsteady.held;
  return view;
}

bool awaits(const State& state, CallNumber call) {
  const std::optional<Loss>& loss = state.by_options.calm.loss;
  return state.by_options.grants.questions.contains(call) || (loss && loss->round.contains(call)) ||
         std::visit(
             [&](const auto& wait) {
               using Wait = std::decay_t<decltype(wait)>;
               const auto in = [&](const Calls& calls) { return calls.contains(call); };
               if constexpr (std::is_same_v<Wait, SeekingHigher> ||
                             std::is_same_v<Wait, Checking> || std::is_same_v<Wait, Settling> ||
                             std::is_same_v<Wait, AskingFree>)
                 return in(wait.asked);
               else if constexpr (std::is_same_v<Wait, HaltingLower> ||
                                  std::is_same_v<Wait, Probing>)
                 return wait.call == call;
               else if constexpr (std::is_same_v<Wait, HaltingAll>)
                 return in(wait.halted);
               else if constexpr (std::is_same_v<Wait, Announcing>)
                 return in(wait.announced) || in(wait.questions);
               else if constexpr (std::is_same_v<Wait, Reorganizing>)
                 return in(wait.questions);
               else if constexpr (std::is_same_v<Wait, MakingReady>)
                 return in(wait.readied) || in(wait.questions);
               else
                 return false;
             },
             state.procedure);
}

}  // namespace muster::bully
