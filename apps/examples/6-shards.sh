#!/bin/sh
# Shards by hook programs: the application is a shell script that the node runs for each hook.
# 
# The coordinator deals 12 shards to the members. The numbers of shards of two members differ by one
# at most. Each member appends numbered records to its shards, in a file of its own, and reports the
# last record of each shard to the next coordinator. In the configuration of each node:
# 
#   [hooks]
#   stop = ["./6-shards.sh"]
#   reorganize = ["./6-shards.sh"]
#   start = ["./6-shards.sh"]
# 
# A record is a line "shard counter coordinator sequence" of shards-NODE/records. Counter and
# coordinator are the two parts of the group number under which the member wrote the record. No two
# records are equal.
set -eu

shards=12
store=shards-$MUSTER_NODE # in the directory of the configuration file
records=$store/records    # each record is on disk before the next one is written
task=$store/task          # the worker's shards: one line for each, "shard next-sequence"
go=$store/go              # the group for which the worker may work; if it is gone, the worker ends
mkdir -p "$store"
touch "$records"

# Prints the last record of each shard in $records.
report() {
  awk '{ last[$1] = $0 } END { for (shard in last) print last[shard] }' "$records" | sort -n
}

# Tells the worker to end, and waits for the lock, which the worker holds as long as it works.
cease() {
  rm -f "$go"
  exec 9>"$store/lock"
  flock 9
}

# Prints for each shard the member that gets it and its next sequence. Reads the members' reports
# from files. A shard stays with the member that has its last record, if that member has a place
# left.
deal() {
  for member in $MUSTER_MEMBERS; do
    echo "member $member"
    sed "s/^/$member /" "$MUSTER_REPORTS/$member"
  done | awk -v shards="$shards" '
    $1 == "member" { member[++members] = $2; next }
    {
      # The sequence counts before the group: a node that was alone has the highest group, but may
      # lack records.
      key = sprintf("%020d %020d %010d", $5, $3, $4)
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

# Picks this node's shards from the definition. The hook `start` may be called twice for one group,
# so records that are already in the store are not written again.
assign() {
  awk -v node="$MUSTER_NODE" '
    FILENAME == ARGV[1] { if ($4 > last[$1]) last[$1] = $4; next }
    $2 == node { print $1, ($3 > last[$1] ? $3 : last[$1] + 1) }' \
    "$records" "$MUSTER_DEFINITION_FILE" >"$task"
}

# Writes one record of each shard in turn, as long as this group may work and the node lives. The
# node does not end a process that a hook leaves in the background, so the worker checks this
# itself.
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
  work "$PPID" </dev/null >/dev/null 2>&1 &  # the worker keeps the lock until the worker ends
  ;;
esac
