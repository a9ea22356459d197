#include <muster/host/hold_down.hpp>

#include <algorithm>
#include <charconv>

namespace muster {

HoldDown::HoldDown(const std::optional<Bytes>& value) {
  if (value)
    std::from_chars(value->data.data(), value->data.data() + value->data.size(), short_lives_);
}

Duration HoldDown::wait(Duration shortest) const {
  if (short_lives_ == 0) return Duration::zero();
  Duration wait = std::min(shortest, longest);
  for (std::uint64_t i = 1; i < short_lives_ && wait > Duration::zero() && wait < longest; ++i)
    wait = std::min(2 * wait, longest);
  return wait;
}

CellBatch HoldDown::begins() const {
  return {std::string(cell), {std::to_string(short_lives_ + 1)}};
}

CellBatch HoldDown::as_before() const {
  return {std::string(cell), {std::to_string(short_lives_)}};
}

CellBatch HoldDown::has_lasted() {
  return CellBatch().erase(std::string(cell));
}

std::string HoldDown::sentence(NodeId node, Duration wait) const {
  const auto ms = wait / std::chrono::milliseconds(1);
  const std::string time =
      ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
  return "node " + std::to_string(node.value) + " waits " + time + " before it listens: " +
         (short_lives_ == 1 ? "its last life"
                            : "each of its last " + std::to_string(short_lives_) + " lives") +
         " lasted for less than 1 s (hold_down)";
}

}  // namespace muster
