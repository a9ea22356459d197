// Start, as primary: promotion, the row, and beside the group the end of the seal.

#include "apps/postgres/keeper/turn.hpp"

namespace muster::postgres {

// What has ended meanwhile is a sealed standby again, and writes only when it is chosen anew.
void Turn::write() {
  if (!k_.start_owed) return;
  if (k_.runs == Runs::nothing) return begin();
  if (k_.runs == Runs::standby) return order(Promote{}, Promotion{});
  write_row();
}

void Turn::ended(const Promotion&, const Promoted&) {
  k_.runs = Runs::primary;
  k_.holds.reset();
  if (k_.stop_owed) return seal();
  write_row();
}

void Turn::write_row() {
  if (stands(Line::row_of_the_group)) return order(WriteTerm{k_.place->group}, GroupRow{});
  end_start();
  open();
}

// A majority of copies has to show the row before anything of this group is acknowledged: what they
// held of another group would else be above it.
void Turn::ended(const GroupRow&, const TermWritten& written) {
  end_start();
  if (k_.place->choice.is_alone()) return go_on_alone();
  if (!stands(Line::row_is_copied)) return open();
  await_row_copies({written.end});
}

void Turn::await_row_copies(const RowCopies& wait) {
  order(AwaitCopies{wait.end, has_witness()}, wait);
}

void Turn::failed(const RowCopies& wait, const Failed&) {
  if (has_witness()) want_to_be_alone();
  await_row_copies(wait);
}

void Turn::open() {
  Conf open;
  open.names = names();
  order(Configure{open}, Opening{});
}

void Turn::ended(const OpeningShown&, const NamesShown&) {
  k_.open = true;
  k_.unfollowed = false;
  order(Kick{}, Release{});
}

// Its settings or its disk do not let it. It counts, and another with as much is chosen.
void Turn::does_not_write(const std::string& why) {
  k_.unfit = true;
  if (k_.start_owed)
    end_start(why);
  else if (writes())
    tell(WantElection{"this node is primary and cannot write: " + why});
  shut_down(false);
}

}  // namespace muster::postgres
