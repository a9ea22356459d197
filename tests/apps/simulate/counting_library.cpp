#include <muster/application_library.hpp>
#include <muster/services.hpp>

// An application as a user writes it, for `muster simulate --app`: each group's definition is how
// many groups there were before. TOO_OLD makes a library of another interface of it.

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
