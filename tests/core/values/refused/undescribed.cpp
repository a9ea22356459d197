#include <muster/values/hash.hpp>
#include <muster/values/json.hpp>
#include <muster/values/text.hpp>

namespace muster {

struct Owner {
  NodeId node;
};
#ifndef FAULT
MUSTER_DESCRIBE(Owner, node);
#endif

std::string text_of(const std::optional<Owner>& owner) {
  return to_text(owner) + to_json(owner);
}
std::uint64_t hash_of(const Owner& owner) {
  return hash(owner);
}

}  // namespace muster
