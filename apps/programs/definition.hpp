#pragma once

#include <muster/application.hpp>
#include <muster/values/failure.hpp>

#include <filesystem>
#include <string>
#include <vector>

/// Variables and files that programs get from the node: docs/how-to/programs.md.

namespace muster::apps {

using muster::operator==;

/// The task of a group whose application defines no other: its members.
struct MembersDefinition {
  NodeId coordinator;
  NodeSet members;
};
MUSTER_DESCRIBE(MembersDefinition, coordinator, members);

/// The group as JSON: `{"coordinator":3,"members":[1,2,3]}`.
Definition define_members(const Reorganization& reorganization);

/// The group number as a text, its counter and its coordinator: "17.5".
std::string group_text(const GroupNumber& group);

/// The variables that a program gets: MUSTER_NODE, if there is a group also MUSTER_GROUP and
/// MUSTER_COORDINATOR, and if the group has members also MUSTER_MEMBERS.
std::vector<std::string> environment_about(NodeId self, const std::optional<GroupNumber>& group,
                                           const NodeSet& members);

/// Replaces the file at once: a reader sees the old one or the whole new one.
Expected<> replace_file(const std::filesystem::path& file, const std::string& bytes);

/// Writes the definition into the file `definition` of the directory, and returns the file's path.
Expected<std::filesystem::path> write_definition(const std::filesystem::path& directory,
                                                 const Definition& definition);

}  // namespace muster::apps
