#pragma once

#include <muster/application.hpp>

#include <memory>
#include <stop_token>
#include <string>

/// Elections that a member wants, made by its coordinator. A member that makes one itself recovers,
/// as after a pause, and who does that again and again is held (docs/options/calm.md).

namespace muster::postgres {

/// What a member answers its coordinator: why an election is wanted, when one is. The question
/// stands until then, or until the member is to stop.
class Wanted {
 public:
  Wanted();
  Wanted(const Wanted&) = delete;
  Wanted& operator=(const Wanted&) = delete;
  ~Wanted();

  /// The coordinator asks: `Application::answer`.
  void stand_by(const std::stop_token& cancelled, Done<Bytes> done);
  /// False where no coordinator has asked, or its question is over.
  bool tell(const std::string& why);

 private:
  class Standing;
  std::unique_ptr<Standing> standing_;
};

/// Asks all other members, and lets `services` elect when one wants it. On the coordinator, from
/// its `start` on.
void ask_who_wants(const Assignment& assignment, Services& services);

}  // namespace muster::postgres
