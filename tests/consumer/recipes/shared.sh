#!/usr/bin/env bash
# Shared libraries show what their headers declare, and hide the rest: `shared.sh DIRECTORY`.
set -euo pipefail
# looks LIBRARY SHOWN HIDDEN: beginnings of names.
looks() {
  local names
  names=$(nm -DC --defined-only "$directory/libmuster_$1.so")
  grep -q " $2" <<<"$names" || { echo "libmuster_$1.so does not show $2" >&2; exit 1; }
  ! grep -q " $3" <<<"$names" || { echo "libmuster_$1.so shows $3" >&2; exit 1; }
}
directory=$1
looks net 'muster::net::Node::start(' 'muster::net::Lives::'
looks core 'muster::bully::step(' 'muster::bully::BullyTurn::'
looks lab 'muster::lab::World::run_until_normal(' 'muster::lab::simulated::'
