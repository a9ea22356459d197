#include "apps/postgres/perform/clone.hpp"

namespace muster::postgres {
namespace {

std::filesystem::path beside(const InstanceOptions& options, const char* ending) {
  return options.data.string() + ending;
}

}  // namespace

std::filesystem::path part_path(const InstanceOptions& options) {
  return beside(options, ".part");
}

std::filesystem::path old_path(const InstanceOptions& options) {
  return beside(options, ".old");
}

std::filesystem::path rubbish_path(const InstanceOptions& options) {
  return beside(options, ".rubbish");
}

Expected<> complete_clone(const InstanceOptions& options) {
  return rename_durably(part_path(options), beside(options, ".clone"));
}

Expected<> finish_clone(const InstanceOptions& options) {
  const auto clone = beside(options, ".clone");
  if (!std::filesystem::exists(clone)) return {};
  if (std::filesystem::exists(options.data)) {
    // If `data.old` exists already, the present data is an earlier clone that never streamed.
    const bool kept = std::filesystem::exists(old_path(options));
    auto away = rename_durably(options.data, kept ? rubbish_path(options) : old_path(options));
    if (!away) return away;
  }
  return rename_durably(clone, options.data);
}

}  // namespace muster::postgres
