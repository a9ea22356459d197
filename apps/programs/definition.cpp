#include "apps/programs/definition.hpp"

#include "apps/base/text.hpp"

#include <muster/values/json.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace muster::apps {

Definition define_members(const Reorganization& reorganization) {
  return {to_json(MembersDefinition{reorganization.group.coordinator, reorganization.nodes()})};
}

std::string group_text(const GroupNumber& group) {
  return std::to_string(group.counter) + "." + std::to_string(group.coordinator.value);
}

std::vector<std::string> environment_about(NodeId self, const std::optional<GroupNumber>& group,
                                           const NodeSet& members) {
  std::vector<std::string> variables{"MUSTER_NODE=" + std::to_string(self.value)};
  if (group) {
    variables.push_back("MUSTER_GROUP=" + group_text(*group));
    variables.push_back("MUSTER_COORDINATOR=" + std::to_string(group->coordinator.value));
  }
  if (!members.empty()) variables.push_back("MUSTER_MEMBERS=" + format_nodes(members));
  return variables;
}

Expected<> replace_file(const std::filesystem::path& file, const std::string& bytes) {
  const std::filesystem::path next = file.string() + ".new";
  errno = 0;
  std::ofstream out(next, std::ios::binary | std::ios::trunc);
  out << bytes;
  out.close();
  if (out && std::rename(next.c_str(), file.c_str()) == 0) return {};
  return Failure{ExitCode::hook_failed,
                 "cannot write " + file.string() + ": " + std::strerror(errno)};
}

Expected<std::filesystem::path> write_definition(const std::filesystem::path& directory,
                                                 const Definition& definition) {
  const auto file = directory / "definition";
  if (const auto written = replace_file(file, definition.data); !written) return written.error();
  return file;
}

}  // namespace muster::apps
