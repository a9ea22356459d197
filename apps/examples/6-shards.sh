#!/bin/sh
# Shards by hook programs: the coordinator deals 12 shards over the members, each as many as any
# other, give or take one; each member appends numbered records to its shards in a file of its own,
# and what it has is known to the next coordinator by its report. In the configuration of each node:
#
#   [hooks]
#   stop = ["./6-shards.sh"]
#   reorganize = ["./6-shards.sh"]
#   start = ["./6-shards.sh"]
#
# A record is a line "shard counter coordinator sequence" of shards-NODE/records; the two in the
# middle are the group that it was written for: no two records are equal.
set -eu

shards=12
store=shards-$MUSTER_NODE # in the directory of the configuration
records=$store/records    # on disk before the next one is written
task=$store/task          # of the worker: "shard sequence" of each next record
go=$store/go              # what group the worker may work for
mkdir -p "$store"
touch "$records"

# The last record of each shard in this store.
report() {
  awk '{ last[$1] = $0 } END { for (shard in last) print last[shard] }' "$records" | sort -n
}

# Takes the lock that a worker holds as long as it works, and so waits for its end.
cease() {
  rm -f "$go"
  exec 9>"$store/lock"
  flock 9
}

# From the members' reports: which member has which shard, and its next sequence. A shard stays
# with the member that has its last record, where that one has a place left.
deal() {
  for member in $MUSTER_MEMBERS; do
    echo "member $member"
    sed "s/^/$member /" "$MUSTER_REPORTS/$member"
  done | awk -v shards="$shards" '
    $1 == "member" { member[++members] = $2; next }
    {
      key = sprintf("%020d %020d %010d", $5, $3, $4) # a node that was alone has the highest group
      if (key > newest[$2]) { newest[$2] = key; holder[$2] = $1; sequence[$2] = $5 }
    }
    END {
      least = int(shards / members)
      extras = shards % members
      for (shard = 0; shard < shards; shard++) if (shard in holder) take(shard, holder[shard])
      for (shard = 0; shard < shards; shard++) if (!(shard in owner)) take(shard, emptiest())
      for (shard = 0; shard < shards; shard++) print shard, owner[shard], sequence[shard] + 1
    }
    function take(shard, node) {
      if (taken[node] > least || (taken[node] == least && extras == 0)) return
      if (taken[node] == least) extras--
      taken[node]++
      owner[shard] = node
    }
    function emptiest(  i, best) {
      best = member[1]
      for (i = 2; i <= members; i++) if (taken[member[i]] < taken[best]) best = member[i]
      return best
    }'
}

# What of the definition is this node's. The same group may be started again: what the store has
# already is not written twice.
assign() {
  awk -v node="$MUSTER_NODE" '
    FILENAME == ARGV[1] { if ($4 > last[$1]) last[$1] = $4; next }
    $2 == node { print $1, ($3 > last[$1] ? $3 : last[$1] + 1) }' \
    "$records" "$MUSTER_DEFINITION_FILE" >"$task"
}

# One record of each shard in turn, for as long as this group may and the node lives: nothing ends
# what a hook has left in the background, so it has to see to that itself.
work() {
  node=$1 round=0
  while [ -s "$task" ]; do
    while read -r shard first; do
      [ "$(cat "$go" 2>/dev/null)" = "$MUSTER_GROUP" ] && kill -0 "$node" || return 0
      echo "$shard ${MUSTER_GROUP%.*} ${MUSTER_GROUP#*.} $((first + round))" >>"$records"
      sync "$records"
    done <"$task"
    round=$((round + 1))
    sleep 0.05
  done
}

case $MUSTER_HOOK in
stop)
  cease
  report
  ;;
reorganize) deal ;;
start)
  cease
  assign
  echo "$MUSTER_GROUP" >"$go"
  work "$PPID" </dev/null >/dev/null 2>&1 & # with the lock, until it is told to cease
  ;;
esac
