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

/// Reports and definitions as values instead of bytes. A value is a described struct (describe.hpp)
/// or a class with the usual members of Boost.Serialization. The bounded archive encodes the value.

namespace MUSTER_EXPORT muster {

/// Encodes a value: its version in 32 bits, then the bytes that the archive makes of it.
template <class T>
std::string encode_version(std::uint32_t version, const T& value) {
  std::string out;
  encode_to(out, version);
  encode_to(out, value);
  return out;
}

/// Decodes a value that must have this version; all of `bytes` must belong to it. Never throws. The
/// failure names both versions, or the byte at which decoding failed.
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

/// An application whose reports and definitions are values. Both types are default-constructible.
///
/// `Version` is the version of the two types: raise it whenever one of them changes. Bytes of
/// another version or of another type are never decoded as a value. Such bytes fail the hook, and
/// the reason names the nodes that sent them.
///
/// @par Thread safety and lifetime
/// As for Application.
/// @par Example
/// @code
///     struct Share { std::uint64_t version{}; std::string data; };
///     MUSTER_DESCRIBE(Share, version, data);
///     class Copies final : public muster::Typed<Share, Share> {
///       void define(muster::Reorganization, std::map<muster::NodeId, Share> reports,
///                   muster::Done<Share> done) override {
///         done(newest(reports));
///       }
///       // cease and install likewise
///     };
/// @endcode
template <class ReportType, class DefinitionType, std::uint32_t Version = 1>
class Typed : public Application {
 public:
  /// `Application::stop` with a value as the report.
  virtual void cease(StopContext context, Done<ReportType> done) = 0;

  /// `Application::reorganize`: computes a new definition. `reports` contains the report of each
  /// member, by node.
  virtual void define(Reorganization reorganization, std::map<NodeId, ReportType> reports,
                      Done<DefinitionType> done) = 0;

  /// `Application::start` with a value as the definition.
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
