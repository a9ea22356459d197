#include "wire/reserve.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace muster::net {

Reserve::~Reserve() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool Reserve::let_go() {
  if (descriptor_ < 0) return false;
  ::close(std::exchange(descriptor_, -1));
  return true;
}

void Reserve::restock() {
  if (descriptor_ < 0) descriptor_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

}  // namespace muster::net
