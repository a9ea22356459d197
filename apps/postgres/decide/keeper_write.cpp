// `start` of the primary: promotion and the marker of the group; after `start`, opening the seal.

#include "apps/postgres/decide/keeper_turn.hpp"

namespace muster::postgres {

// If PostgreSQL has ended since this node was chosen, PostgreSQL starts again as a sealed standby.
// The node then writes only after it is chosen again.
void KeeperTurn::write() {
  if (!k_.start_owed) return;
  if (k_.runs == Runs::nothing) return begin();
  if (k_.runs == Runs::standby) return order(Promote{}, Promotion{});
  write_row();
}

void KeeperTurn::on_result(const Promotion&, const Promoted&) {
  k_.runs = Runs::primary;
  k_.holds.reset();
  if (k_.stop_owed) return seal();
  write_row();
}

void KeeperTurn::write_row() {
  if (stands(Line::marker_of_the_group)) return order(WriteMarker{k_.place->group}, GroupMarker{});
  end_start();
  let_clients_write({});
}

void KeeperTurn::on_result(const GroupMarker&, const MarkerWritten& written) {
  end_start();
  let_clients_write(written.end);
}

// While the standbys connect, PostgreSQL stops being read-only by default. This is safe: a commit
// waits until a standby counts, and a standby counts only with the marker (keeper_follow.cpp).
void KeeperTurn::let_clients_write(Lsn marker) {
  Conf writable;
  writable.writable = true;
  order(Configure{writable}, Opening{marker});
}

void KeeperTurn::on_result(const OpeningShown& wait, const ConfShown&) {
  if (k_.place->choice.is_alone()) return go_on_alone();
  await_marker_copies({wait.marker});
}

// A primary without a witness gives up the first time that no standby gets further, so that another
// node can try. The second time the primary waits without a bound, because the other nodes have had
// their turn. Perhaps the nodes that should follow are still being cloned, or no node reaches any
// other. With a witness the primary always gives up, since it can go on alone.
void KeeperTurn::await_marker_copies(const MarkerCopies& wait) {
  order(AwaitCopies{wait.end, has_witness() || !k_.in_vain}, wait);
}

void KeeperTurn::on_result(const MarkerCopies& wait, const FollowerGone&) {
  want_another();
  await_marker_copies(wait);
}

void KeeperTurn::failed(const MarkerCopies& wait, const Failed&) {
  if (has_witness()) want_another();
  await_marker_copies(wait);
}

// Asks for an election, because too few nodes follow. Either the other nodes reach this node but
// not its PostgreSQL, as with a firewall, or PostgreSQL does not run on them.
void KeeperTurn::want_another() {
  k_.unfollowed = k_.in_vain = true;
  tell(WantElection{
      std::string("too few nodes copy the writes of this primary: ") +
      (has_witness() ? "it goes on alone if it may" : "another node takes over if it can")});
}

// It is possible that an election changes nothing. So the keeper asks for another election as long
// as too few nodes follow.
void KeeperTurn::on_result(const NoFollower&, const FollowerGone&) {
  want_another();
  await_no_follower();
}

void KeeperTurn::open() {
  k_.open = true;
  k_.unfollowed = k_.in_vain = false;
  order(Checkpoint{}, Flushing{});
}

// Called if this node cannot write, because of its settings or its disk. The node's data still
// counts in the next election, but another node with as much data is chosen.
void KeeperTurn::does_not_write(const std::string& why) {
  k_.unfit = true;
  if (k_.start_owed)
    end_start(why);
  else if (writes())
    tell(WantElection{"this node is primary and cannot write: " + why});
  shut_down(false);
}

}  // namespace muster::postgres
