#!/usr/bin/env bash
# As in nodes.sh, but node 3 has failed.
# shellcheck source=/dev/null
. ./stages/nodes.sh
systemctl kill --signal=KILL muster@n3
for node in 1 2; do muster wait --dir n$node/data --coordinator 2; done
