#include "wire/traffic.hpp"

#include <muster/values/describe.hpp>

#include <type_traits>

namespace muster::net {

namespace {

template <class... Kinds>
constexpr std::array<std::string_view, sizeof...(Kinds)> names_of(
    const std::variant<Kinds...>* /*unused*/) {
  return {type_name<Kinds>()...};
}

constexpr auto frame_names = names_of(static_cast<host::Frame*>(nullptr));
constexpr auto message_names = names_of(static_cast<Message*>(nullptr));

std::size_t index_of(const host::Frame& frame) {
  const auto* carried = std::get_if<host::Carried>(&frame);
  return carried ? frame_names.size() + carried->letter.message.index() : frame.index();
}

}  // namespace

std::string_view Traffic::name_of(std::size_t kind) {
  return kind < frame_names.size() ? frame_names[kind] : message_names[kind - frame_names.size()];
}

void Traffic::Way::count(const host::Frame& frame, std::size_t bytes) {
  Kind& kind = by_kind[index_of(frame)];
  ++kind.frames;
  kind.bytes += bytes;
  const auto* refusal = std::get_if<host::Refusal>(&frame);
  if (refusal == nullptr) return;
  for_each_field(*refusal, [this](const char*, const auto& value) {
    if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(value)>>)
      ++refusals[static_cast<std::size_t>(value)];
  });
}

Traffic::Way& Traffic::Way::operator+=(const Way& other) {
  for (std::size_t i = 0; i < kinds; ++i) {
    by_kind[i].frames += other.by_kind[i].frames;
    by_kind[i].bytes += other.by_kind[i].bytes;
  }
  for (std::size_t i = 0; i < reasons; ++i) refusals[i] += other.refusals[i];
  return *this;
}

}  // namespace muster::net
