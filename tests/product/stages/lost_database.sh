#!/usr/bin/env bash
# As in postgres.sh, but the database of node 2 is lost.
# shellcheck source=/dev/null
. ./stages/postgres.sh
systemctl stop muster-postgres@n2
rm -r /var/lib/muster-postgres/n2/database
