#pragma once

#include "apps/postgres/decide/choose.hpp"

#include <muster/typed.hpp>

#include <filesystem>

/// The part of the application that nodes with a database and witnesses share.

namespace muster::postgres {

/// Version of the encoding of reports and definitions. Each new version must still decode the
/// promises of the version before. A promise that cannot be decoded counts as no promise, and
/// acknowledged commits could be lost.
inline constexpr std::uint32_t version_of_values = 4;
/// The oldest version whose promises are encoded as they are now.
inline constexpr std::uint32_t first_version_of_promises = 3;

/// Reports the latest promise that this node was told, and chooses the node that writes. If a
/// primary is to go on alone, tells that primary when all members have the promise.
class OfGroup : public Typed<Report, Choice, version_of_values> {
 public:
  /// While the file `forgotten` exists, the promises in this node's safe storage are ignored, since
  /// they may be older than the last promise that the node gave. The next promise removes the file.
  OfGroup(Services& services, Copies copies, std::filesystem::path forgotten)
      : services_(services),
        self_(services.self()),
        copies_(std::move(copies)),
        forgotten_(std::move(forgotten)) {}

  void cease(StopContext context, Done<Report> done) final;
  void define(Reorganization reorganization, std::map<NodeId, Report> reports,
              Done<Choice> done) final;
  void install(Assignment assignment, Choice choice, Done<> done) final;
  void answer(Question question, Done<Bytes> done) final;

 private:
  virtual void seal(const StopContext& context, Done<Evidence> done) = 0;
  virtual void begin(const GroupNumber& group, const Choice& choice, Done<> done) = 0;
  /// Called on the primary when all members of `group` have the group's definition in safe storage.
  virtual void all_have_it(const GroupNumber& group) = 0;
  /// Answers the coordinator's question whether this node wants an election (wanted.hpp).
  virtual void stand_by(const std::stop_token& cancelled, Done<Bytes> done) = 0;

  [[nodiscard]] bool has_forgotten() const;
  [[nodiscard]] std::optional<Promise> promise_in(const std::optional<AssignedTask>& task) const;
  void ask_all(const Assignment& assignment, NodeId primary);
  void ask_until_answered(const Assignment& assignment, NodeId member, const Bytes& question,
                          const std::function<void()>& then);

  Services& services_;
  const NodeId self_;
  const Copies copies_;
  const std::filesystem::path forgotten_;
  std::optional<GroupNumber> group_;  ///< the group in which this node works
};

/// Makes the application of a witness.
MakeApplication witness(Copies copies, std::filesystem::path forgotten);

}  // namespace muster::postgres
