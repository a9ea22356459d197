#include <muster/values/types.hpp>

namespace muster {

struct Account {
  NodeId owner;
  GroupNumber group;
  std::optional<Digest> digest;
};
#ifdef FAULT
MUSTER_DESCRIBE(Account, owner, digest);
#else
MUSTER_DESCRIBE(Account, owner, group, digest);
#endif

}  // namespace muster
