#pragma once

#include <muster/application.hpp>
#include <muster/values/failure.hpp>

#include <filesystem>
#include <string>
#include <vector>

/// What programs are told, and where: docs/programs.md.

namespace muster::apps {

using muster::operator==;

/// The task of a group where nobody defines another: who its members are.
struct MembersDefinition {
  NodeId coordinator;
  NodeSet members;
};
MUSTER_DESCRIBE(MembersDefinition, coordinator, members);

/// `{"coordinator":3,"members":[1,2,3]}`.
Definition define_members(const Reorganization& reorganization);

/// "17.5": counter and coordinator.
std::string group_text(const GroupNumber& group);

/// MUSTER_NODE; MUSTER_GROUP and MUSTER_COORDINATOR where there is a group; MUSTER_MEMBERS where it
/// has members.
std::vector<std::string> environment_about(NodeId self, const std::optional<GroupNumber>& group,
                                           const NodeSet& members);

/// Replaces the file, at once and whole.
Expected<> replace_file(const std::filesystem::path& file, const std::string& bytes);

/// Writes the definition to `definition` in the directory and gives its name.
Expected<std::filesystem::path> write_definition(const std::filesystem::path& directory,
                                                 const Definition& definition);

}  // namespace muster::apps
