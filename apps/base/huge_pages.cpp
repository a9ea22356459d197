#include "apps/base/huge_pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>

namespace muster::apps {
namespace {

class HugePageMemory final : public std::pmr::memory_resource {
 private:
  static constexpr std::size_t page = std::size_t{1} << 21;

  static std::size_t aligned(std::size_t bytes, std::size_t alignment) {
    return bytes < page ? alignment : std::max(alignment, page);
  }
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* const block = std::pmr::new_delete_resource()->allocate(bytes, aligned(bytes, alignment));
    // The kernel can ignore this advice; the block then has ordinary pages.
    if (bytes >= page) ::madvise(block, bytes, MADV_HUGEPAGE);
    return block;
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(block, bytes, aligned(bytes, alignment));
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }
};

HugePageMemory resource;

}  // namespace

HugePages::HugePages() : before_(std::pmr::set_default_resource(&resource)) {}

HugePages::~HugePages() {
  std::pmr::set_default_resource(before_);
}

}  // namespace muster::apps
