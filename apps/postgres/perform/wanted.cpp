#include "apps/postgres/perform/wanted.hpp"

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace muster::postgres {

/// The coordinator's question while it has no answer. The question can be cancelled on any thread.
class Wanted::Standing {
 public:
  Standing(const std::stop_token& cancelled, Done<Bytes> done)
      : done_(std::move(done)), on_cancel_(cancelled, [this] { end({}); }) {}

  bool end(const std::string& why) {
    std::optional<Done<Bytes>> done;
    {
      const std::scoped_lock lock(mutex_);
      done.swap(done_);
    }
    if (done) (*done)(Bytes{why});
    return done.has_value();
  }

 private:
  std::mutex mutex_;
  std::optional<Done<Bytes>> done_;
  std::stop_callback<std::function<void()>> on_cancel_;
};

Wanted::Wanted() = default;
Wanted::~Wanted() = default;

void Wanted::stand_by(const std::stop_token& cancelled, Done<Bytes> done) {
  standing_ = std::make_unique<Standing>(cancelled, std::move(done));
}

bool Wanted::tell(const std::string& why) {
  return standing_ && standing_->end(why);
}

// Nothing has to cancel the open questions: the election of the coordinator ends the group, and the
// questions with it.
void ask_for_wanted(const Assignment& assignment, Services& services) {
  for (NodeId member : assignment.members) {
    if (member == services.self()) continue;
    assignment.ask(member, Bytes{"is an election wanted?"},
                   [&services, member](const Done<Bytes>::Outcome& answer) {
                     if (answer && !answer->data.empty())
                       services.elect(named(member) + " asks for it: " + answer->data);
                   });
  }
}

}  // namespace muster::postgres
