#include "apps/verify/allocated.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

/// Counts every allocation of this program.

namespace {

std::size_t allocated = 0;  // these tests have one thread
std::size_t most_allocated = 0;

void* count(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  allocated += ::malloc_usable_size(memory);
  most_allocated = std::max(most_allocated, allocated);
  return memory;
}

void give_back(void* memory) {
  if (memory != nullptr) allocated -= ::malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

std::size_t muster::test::most_bytes_allocated() {
  const std::size_t most = most_allocated;
  most_allocated = allocated;
  return most;
}

void* operator new(std::size_t size) {
  return count(std::malloc(std::max<std::size_t>(size, 1)));
}
void* operator new[](std::size_t size) {
  return operator new(size);
}
void operator delete(void* memory) noexcept {
  give_back(memory);
}
void operator delete[](void* memory) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  give_back(memory);
}
