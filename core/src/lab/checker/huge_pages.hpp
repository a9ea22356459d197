#pragma once

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstddef>
#include <new>
#include <vector>

/// Memory for tables that are read all over.

namespace muster::lab::explored {

/// Gives large tables huge pages where the system has them: half of the time of a read from
/// somewhere in a large table is the search for its page.
template <class T>
struct HugePages {
  using value_type = T;
  static constexpr std::size_t page = std::size_t{1} << 21;

  HugePages() = default;
  template <class Other>
  explicit HugePages(const HugePages<Other>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < page) return static_cast<T*>(::operator new(bytes));
    void* const table = ::operator new (bytes, std::align_val_t{page});
#ifdef __linux__
    ::madvise(table, bytes, MADV_HUGEPAGE);  // a wish: without it all is as it was
#endif
    return static_cast<T*>(table);
  }
  void deallocate(T* table, std::size_t count) {
    if (count * sizeof(T) < page)
      ::operator delete(table);
    else
      ::operator delete (table, std::align_val_t{page});
  }
  friend bool operator==(const HugePages&, const HugePages&) {
    return true;
  }
};

template <class T>
using Table = std::vector<T, HugePages<T>>;

}  // namespace muster::lab::explored
