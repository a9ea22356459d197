#pragma once

#include <muster/application.hpp>

#include <memory>
#include <stop_token>
#include <string>

/// Lets a member ask its coordinator to make an election. A member that makes an election itself
/// goes through Recovery, as after a pause. A member that does so again and again is suspended
/// (docs/explanation/options/calm.md).

namespace muster::postgres {

/// The side of a member. The coordinator's question stays open until the member wants an election,
/// or until the member has to stop. If the member wants an election, it answers with the reason.
class Wanted {
 public:
  Wanted();
  Wanted(const Wanted&) = delete;
  Wanted& operator=(const Wanted&) = delete;
  ~Wanted();

  /// Takes the coordinator's question: see `Application::answer`.
  void stand_by(const std::stop_token& cancelled, Done<Bytes> done);
  /// Answers that this member wants an election, with the reason. Returns false if no coordinator
  /// has asked, or if the question is over.
  bool tell(const std::string& why);

 private:
  class Standing;
  std::unique_ptr<Standing> standing_;
};

/// The coordinator's side: asks all other members, and makes `services` elect when one of them
/// wants an election. The coordinator calls this in its `start`.
void ask_for_wanted(const Assignment& assignment, Services& services);

}  // namespace muster::postgres
