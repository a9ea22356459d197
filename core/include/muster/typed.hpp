#pragma once

#include <muster/application.hpp>
#include <muster/values/archive.hpp>
#include <muster/values/text.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

/// Reports and definitions as values instead of bytes: described ones (describe.hpp), or classes
/// with the ordinary members of Boost.Serialization, through the bounded archive.

namespace MUSTER_EXPORT muster {

/// A value as bytes: its version in 32 bits, then what the archive makes of it.
template <class T>
std::string encode_version(std::uint32_t version, const T& value) {
  std::string out;
  encode_to(out, version);
  encode_to(out, value);
  return out;
}

/// The value that all of `bytes` stand for, which are to be of that version. Never throws. The
/// failure names both versions, or says at which byte they are no such value.
template <class T>
Expected<T> decode_version(std::uint32_t version, std::string_view bytes,
                           Limits limits = {}) noexcept {
  constexpr std::size_t head = sizeof(std::uint32_t);
  const auto found = decode<std::uint32_t>(bytes.substr(0, std::min(head, bytes.size())));
  if (!found)
    return Failure{ExitCode::hook_failed, "is not of version " + std::to_string(version) +
                                              ": it has only " + std::to_string(bytes.size()) +
                                              " bytes"};
  if (*found != version)
    return Failure{ExitCode::hook_failed, "is of version " + std::to_string(*found) +
                                              ", and this program reads version " +
                                              std::to_string(version)};
  auto value = decode<T>(bytes.substr(head), limits);
  if (!value)
    return Failure{ExitCode::hook_failed, "is said to be of version " + std::to_string(version) +
                                              " and is not: " + value.error().what};
  return value;
}

/// An application whose reports and definitions are values. `Version` is theirs, and is raised when
/// one of the two types changes: bytes of another version, or of another type, are never taken for
/// a value, but fail the hook, and the reason names the nodes whose they are.
///
/// Both types are default-constructible.
template <class ReportType, class DefinitionType, std::uint32_t Version = 1>
class Typed : public Application {
 public:
  /// `Application::stop`: cease; then report what you hold.
  virtual void cease(StopContext context, Done<ReportType> done) = 0;

  /// `Application::reorganize`: a new definition from what the members hold; `reports` has that of
  /// each, by node.
  virtual void define(Reorganization reorganization, std::map<NodeId, ReportType> reports,
                      Done<DefinitionType> done) = 0;

  /// `Application::start`: install the definition, and work until `cease`.
  virtual void install(Assignment assignment, DefinitionType definition, Done<> done) = 0;

  void stop(StopContext context, Done<Report> done) final {
    cease(std::move(context), encoded<ReportType>(std::move(done)));
  }

  void reorganize(Reorganization reorganization, Done<Definition> done) final {
    std::map<NodeId, ReportType> reports;
    std::string unreadable;
    for (const Member& member : reorganization.members) {
      auto report = decode_version<ReportType>(Version, member.holdings.report.data);
      if (report)
        reports.emplace(member.node, std::move(*report));
      else
        unreadable += (unreadable.empty() ? "the report of node " : "; that of node ") +
                      to_text(member.node) + ' ' + report.error().what;
    }
    if (!unreadable.empty()) return done.fail(unreadable + advice);
    define(std::move(reorganization), std::move(reports), encoded<DefinitionType>(std::move(done)));
  }

  void start(Assignment assignment, Done<> done) final {
    auto definition = decode_version<DefinitionType>(Version, assignment.definition.data);
    if (!definition)
      return done.fail("the definition of node " + to_text(assignment.group.coordinator) + ' ' +
                       definition.error().what + advice);
    install(std::move(assignment), std::move(*definition), std::move(done));
  }

 private:
  static constexpr const char* advice = ": run the same program on all nodes";

  template <class Value>
  static Done<Value> encoded(Done<Bytes> done) {
    const auto kept = std::make_shared<Done<Bytes>>(std::move(done));
    return Done<Value>([kept](typename Done<Value>::Outcome outcome) {
      if (outcome)
        (*kept)(Bytes{encode_version(Version, *outcome)});
      else
        kept->fail(outcome.error());
    });
  }
};

}  // namespace muster
