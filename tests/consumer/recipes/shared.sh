#!/usr/bin/env bash
# Checks that shared libraries export the symbols of their headers and hide the rest: `shared.sh
# DIRECTORY`.
set -euo pipefail
# looks LIBRARY SHOWN HIDDEN: the library must export a name that begins with SHOWN, and no name
# that begins with HIDDEN.
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
