// Start, as primary: promotion, the row, and beside the group the end of the seal.

#include "apps/postgres/decide/keeper_turn.hpp"

namespace muster::postgres {

// What has ended meanwhile is a sealed standby again, and writes only when it is chosen anew.
void KeeperTurn::write() {
  if (!k_.start_owed) return;
  if (k_.runs == Runs::nothing) return begin();
  if (k_.runs == Runs::standby) return order(Promote{}, Promotion{});
  write_row();
}

void KeeperTurn::ended(const Promotion&, const Promoted&) {
  k_.runs = Runs::primary;
  k_.holds.reset();
  if (k_.stop_owed) return seal();
  write_row();
}

void KeeperTurn::write_row() {
  if (stands(Line::row_of_the_group)) return order(WriteTerm{k_.place->group}, GroupRow{});
  end_start();
  open();
}

// A majority of copies has to show the row before anything of this group is acknowledged: what they
// held of another group would else be above it.
void KeeperTurn::ended(const GroupRow&, const TermWritten& written) {
  end_start();
  if (k_.place->choice.is_alone()) return go_on_alone();
  if (!stands(Line::row_is_copied)) return open();
  await_row_copies({written.end});
}

// Each node tries once before another may: then it takes as long as it takes, as where who is to
// follow is being mended, or nobody reaches anybody. With a witness it may always go on alone.
void KeeperTurn::await_row_copies(const RowCopies& wait) {
  order(AwaitCopies{wait.end, has_witness() || !k_.in_vain}, wait);
}

void KeeperTurn::ended(const RowCopies& wait, const FollowerGone&) {
  want_another();
  await_row_copies(wait);
}

void KeeperTurn::failed(const RowCopies& wait, const Failed&) {
  if (has_witness()) want_another();
  await_row_copies(wait);
}

// Its PostgreSQL is cut off, as by a firewall, and not its node; or those of the others do not run.
void KeeperTurn::want_another() {
  k_.unfollowed = k_.in_vain = true;
  tell(WantElection{std::string("too few get what this node writes, which is primary: ") +
                    (has_witness() ? "it is to go on alone" : "another is to write, if one can")});
}

// An election may come to nothing: it is asked for as long as that lasts.
void KeeperTurn::ended(const NoFollower&, const FollowerGone&) {
  want_another();
  await_no_follower();
}

void KeeperTurn::open() {
  Conf open;
  open.names = names();
  order(Configure{open}, Opening{});
}

void KeeperTurn::ended(const OpeningShown&, const NamesShown&) {
  k_.open = true;
  k_.unfollowed = k_.in_vain = false;
  order(Kick{}, Release{});
}

// Its settings or its disk do not let it. It counts, and another with as much is chosen.
void KeeperTurn::does_not_write(const std::string& why) {
  k_.unfit = true;
  if (k_.start_owed)
    end_start(why);
  else if (writes())
    tell(WantElection{"this node is primary and cannot write: " + why});
  shut_down(false);
}

}  // namespace muster::postgres
