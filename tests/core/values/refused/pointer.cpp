#include <muster/values/archive.hpp>

namespace muster {

#ifdef FAULT
using Owner = NodeId*;
#else
using Owner = NodeId;
#endif

struct Account {
  Owner owner{};
};
MUSTER_DESCRIBE(Account, owner);

std::string bytes_of(const Account& account) {
  return encode(account);
}

}  // namespace muster
