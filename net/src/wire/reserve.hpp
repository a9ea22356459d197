#pragma once

namespace muster::net {

/// One descriptor that is held only to be let go when the process can have no more: so a node of
/// the cluster can still be dialled, or accepted.
class Reserve {
 public:
  Reserve() { restock(); }
  Reserve(const Reserve&) = delete;
  Reserve& operator=(const Reserve&) = delete;
  ~Reserve();

  /// True where there is room for one more descriptor from now on.
  bool let_go();
  /// Holds one again, where one can be had.
  void restock();

 private:
  int descriptor_ = -1;
};

}  // namespace muster::net
