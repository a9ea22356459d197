#!/usr/bin/env bash
# Three nodes of muster init, with coordinator 3.
# shellcheck source=/dev/null
. ./stages/units.sh
cd /var/lib/muster || exit
muster init --nodes localhost:7101,localhost:7102,localhost:7103 --cluster demo --observer
edits='s/^T = .*/T = "1s"/; s/^coordinator_timeout = .*/coordinator_timeout = "2s"/'
sed -i "$edits" demo/*/muster.toml
mv demo/* .
for node in 1 2 3; do
  printf '[journal]\nfile = "journal.jsonl"\n' >> n$node/muster.toml
  systemctl start muster@n$node
done
for node in 1 2 3; do muster wait --dir n$node/data --coordinator 3; done
