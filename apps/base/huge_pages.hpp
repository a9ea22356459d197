#pragma once

#include <memory_resource>

namespace muster::apps {

/// While one is there, large blocks of the default memory resource are in huge pages, where the
/// system has them: for the tables of lab::check, which are read all over.
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
