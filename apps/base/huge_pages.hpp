#pragma once

#include <memory_resource>

namespace muster::apps {

/// While an object exists, large blocks of the default memory resource are in huge pages, if the
/// system has them. lab::check uses this for its tables, which it reads in random order.
class HugePages {
 public:
  HugePages();
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;
  ~HugePages();

 private:
  std::pmr::memory_resource* before_;
};

}  // namespace muster::apps
