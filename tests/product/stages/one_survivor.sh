#!/usr/bin/env bash
# As in postgres.sh, but all nodes are down, and only node 3 is left.
# shellcheck source=/dev/null
. ./stages/postgres.sh
for node in 1 2 3; do
  systemctl kill --signal=KILL muster-postgres@n$node
  while [[ -e /var/lib/muster-postgres/n$node/database/data/postmaster.pid ]]; do :; done
done
rm -r /var/lib/muster-postgres/n1 /var/lib/muster-postgres/n2
