#!/usr/bin/env bash
# Shared libraries show what their headers declare, and hide the rest: `shared.sh DIRECTORY`.
set -euo pipefail
shows() { nm -DC --defined-only "$1" | grep -q " $2"; }
shows "$1/libmuster_net.so" 'muster::net::Node::start('
shows "$1/libmuster_core.so" 'muster::bully::step('
shows "$1/libmuster_lab.so" 'muster::lab::World::run_until_normal('
for hidden in net:muster::net::Lives core:muster::bully::BullyTurn lab:muster::lab::simulated; do
  if shows "$1/libmuster_${hidden%%:*}.so" "${hidden#*:}::"; then
    echo "libmuster_${hidden%%:*}.so shows ${hidden#*:}, which no header declares" >&2
    exit 1
  fi
done
