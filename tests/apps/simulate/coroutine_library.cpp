#include <muster/application_library.hpp>
#include <muster/net/coroutines.hpp>

// An application of coroutines in a library. The definition of each group is the value in safe
// storage of the group's first member, with one more `x`.

namespace {

using namespace muster;

class Keeping : public net::Coroutines {
 public:
  using Coroutines::Coroutines;
  awaitable<Report> stop(StopContext) override {
    const Cells kept = co_await scan("count");
    co_return kept.empty() ? Report() : kept.front().second;
  }
  awaitable<Definition> reorganize(Reorganization all) override {
    co_return all.members.front().holdings.report.data.substr(0, 100) + 'x';
  }
  awaitable<> start(Assignment assignment) override {
    co_await write({"count", assignment.definition});
  }
};

}  // namespace

MUSTER_APPLICATION_LIBRARY([](Services& node) {
  return net::make_application(std::make_unique<Keeping>(node));
});
