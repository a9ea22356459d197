#include <muster/protocol/letter.hpp>
#include <muster/values/archive.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

namespace muster {

std::optional<Incarnation> life_called(const Letter& letter) {
  if (const auto* call = std::get_if<NewCoordinator>(&letter.message)) return call->receiver;
  if (const auto* call = std::get_if<Ready>(&letter.message)) return call->receiver;
  if (const auto* call = std::get_if<invitation::Ready>(&letter.message)) return call->receiver;
  return std::nullopt;
}

bool is_answer(const Letter& letter) {
  return std::holds_alternative<Answer>(letter.message);
}

}  // namespace muster

MUSTER_COMPILE(muster::Letter);
MUSTER_COMPILE_ARCHIVE(muster::Letter);
