#pragma once

#include "apps/postgres/decide/choose.hpp"

#include <muster/typed.hpp>

#include <filesystem>

/// What the members of a group have in common, with a database or as a witness.

namespace muster::postgres {

/// Of reports and definitions. Whoever raises it reads the promises of the version before, too: one
/// that is taken for none is a commit lost.
inline constexpr std::uint32_t version_of_values = 4;
/// From then on promises stand as they do now.
inline constexpr std::uint32_t first_version_of_promises = 3;

/// Reports with the latest promise that this node was told of, chooses who writes, and tells the
/// primary that goes on alone when all members have its promise.
class OfGroup : public Typed<Report, Choice, version_of_values> {
 public:
  /// While there is a file at `forgotten`, what its safe storage has of promises counts for
  /// nothing, as it may be from before the last one: until the next.
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
  /// All members of that group have its definition in safe storage. On the primary.
  virtual void all_have_it(const GroupNumber& group) = 0;
  /// The coordinator asks whether an election is wanted (wanted.hpp).
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
  std::optional<GroupNumber> group_;  ///< in which it works
};

/// The application of a witness.
MakeApplication witness(Copies copies, std::filesystem::path forgotten);

}  // namespace muster::postgres
