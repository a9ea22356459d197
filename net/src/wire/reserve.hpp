#pragma once

namespace muster::net {

/// One descriptor that is held in reserve. It is released when the process can get no other, so
/// that a node of the cluster can still be dialled or accepted.
class Reserve {
 public:
  Reserve() { restock(); }
  Reserve(const Reserve&) = delete;
  Reserve& operator=(const Reserve&) = delete;
  ~Reserve();

  /// Releases the descriptor. Returns true if there was one, so that the process can now open
  /// another.
  bool let_go();
  /// Reserves a descriptor again, if one is free.
  void restock();

 private:
  int descriptor_ = -1;
};

}  // namespace muster::net
