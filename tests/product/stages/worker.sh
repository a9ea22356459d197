#!/usr/bin/env bash
# A cluster of one node. The tested page runs two programs. When a program ends, the node leaves in
# order.
printf '%s\n' '[node]' 'id = 1' 'data = "n1"' '[cluster]' 'name = "demo"' \
  '[cluster.nodes]' '1 = "127.0.0.1:7101"' > n1.toml
cp n1.toml node.toml
# shellcheck disable=SC2016
printf '%s\n' '#!/bin/sh' 'echo "$0 $* in group $MUSTER_GROUP"' 'kill "$PPID"' 'exec cat' > worker
cp worker cron
chmod +x worker cron
