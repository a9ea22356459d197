#!/usr/bin/env bash
# Three nodes with PostgreSQL, from bundles. Node 1 is the primary. All databases have one port.
# shellcheck source=/dev/null
. ./stages/units.sh
export PGPORT=7201

muster() {  # Debian's own database may have port 5432
  local more=()
  [[ "$1 $2" != "postgres init" || $* == *" --port "* ]] || more=(--port 7202)
  command muster "$@" "${more[@]}"
}

muster postgres init --nodes 127.0.0.1:7101,127.0.0.2:7102,127.0.0.3:7103 --port 7201 --to bundles
edits='s/^T = .*/T = "1s"/; s/^check_every = .*/check_every = "500ms"/
  s/^coordinator_timeout = .*/coordinator_timeout = "1500ms"/
  s/^stop_deadline = .*/stop_deadline = "3s"/; s/^\(hold_down\|calm\) = .*/\1 = "0s"/
  s/7202"/7201"/; s/7203"/7201"/'
sed -i "$edits" bundles/n?/muster.toml
home=/var/lib/muster-postgres
muster postgres create bundles/n1 --data $home/n1 --user postgres
systemctl start muster-postgres@n1
for node in 2 3; do
  muster postgres join bundles/n$node --data $home/n$node --user postgres
  systemctl start muster-postgres@n$node
done
# If nodes have equal data, the highest becomes the first primary.
status() { muster postgres status --config $home/n1/muster.toml; }
until [[ $(status) == "primary  node 1 "* ]]; do
  muster postgres switch-over --to 1 --config $home/n1/muster.toml --user postgres || true
done
until status; do :; done
