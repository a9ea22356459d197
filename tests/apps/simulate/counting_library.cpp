#include <muster/application_library.hpp>
#include <muster/services.hpp>

// An application for `muster simulate --app`, as a user writes one. The definition of each group is
// the number of groups before it. If the macro TOO_OLD is defined, the library claims another
// version of the interface.

namespace {

using namespace muster;

class Counting : public Application {
 public:
  void stop(StopContext, Done<Report> done) override { done({count_}); }
  void reorganize(Reorganization reorganization, Done<Definition> done) override {
    std::size_t most = 0;
    for (const Member& member : reorganization.members)
      most = std::max(most, member.holdings.report.data.size());
    done({std::string(most + 1, 'x').substr(0, 100)});
  }
  void start(Assignment assignment, Done<> done) override {
    count_ = assignment.definition.data;
    done();
  }

 private:
  std::string count_;
};

}  // namespace

#ifdef TOO_OLD
extern "C" std::uint32_t muster_application_interface() {
  return 0;
}
extern "C" void muster_make_application(muster::Services&, std::unique_ptr<muster::Application>&) {}
#else
MUSTER_APPLICATION_LIBRARY([](Services&) { return std::make_unique<Counting>(); });
#endif
