#!/usr/bin/env bash
# run.sh [ROW...]: checks the model with SPIN, and compares its verdicts with the known ones of the
# Bully. Without ROW it runs the rows of the tests; `all` also runs the longer ones. With
# KEEP=DIRECTORY it keeps SPIN's files, one directory for each row: there `spin -t DEFINITIONS
# bully.pml` prints the schedule.
set -euo pipefail
optimize=$(($# ? 2 : 0))  # named rows take long
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

for tool in spin gcc; do
  if ! command -v "$tool" >/dev/null; then
    echo "skipped: $tool not found" >&2
    [[ ${MUSTER_DEMAND_SPIN-} ]] && exit 1
    exit 77
  fi
done

# columns: row; when the row runs; expected verdict; definitions of bully.pml
rows='
B1   test  holds     -DN=2 -DCAP=3
B2a  test  holds     -DN=3 -DFAILURES=0
U1   test  violated  -DN=2 -DFAILURES=0 -DANY
U2   test  violated  -DN=3 -DFAILURES=0 -DANY
M1   test  violated  -DN=3 -DFAILURES=0 -DM1
M2   test  violated  -DN=3 -DFAILURES=0 -DM2
M3   test  violated  -DN=3 -DFAILURES=1 -DM3
P2   test  violated  -DN=3 -DFAILURES=0 -DP2
P2b  test  violated  -DN=3 -DFAILURES=0 -DP2B
M4b  test  violated  -DN=2 -DFAILURES=1 -DNOFIFO -DCAP=3
F2a  test  holds     -DN=3 -DFAILURES=0 -DR67 -DR612
B2   long  holds     -DN=3
B2b  long  holds     -DN=3 -DFAILURES=1
M2b  test  violated  -DN=3 -DFAILURES=1 -DM2B
F8   long  holds     -DN=3 -DFAILURES=1 -DF8
F2   long  holds     -DN=3 -DR67 -DR612
W    long  violated  -DN=3 -DFAILURES=2 -DWEDGED
WF   long  holds     -DN=3 -DFAILURES=2 -DWEDGED -DR67 -DR612
'

if [[ ${KEEP-} ]]; then
  mkdir -p "$KEEP"
  work=$(cd "$KEEP" && pwd)
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi

# verdict ROW DEFINITION...: runs a depth-first search without a limit on the depth, and stores
# the verdict in `found`.
verdict() {
  local room=$work/$1 output
  mkdir -p "$room"
  cd "$room"
  cp "$here/bully.pml" .
  spin -a "${@:2}" bully.pml >spin.log || { cat spin.log >&2; return 1; }
  gcc "-O$optimize" -w -o pan pan.c -DSAFETY -DCOLLAPSE -DNOREDUCE -DMEMLIM=2048
  output=$(./pan -E -n -m5000000 2>&1) || true
  printf '%s\n' "$output" >pan.log
  states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log)
  if grep -q 'assertion violated' pan.log; then
    found=violated
  elif grep -q 'errors: 0' pan.log &&
    ! grep -qiE 'search not completed|depth too small|out of memory' pan.log; then
    found=holds
  else
    found=unfinished
  fi
}

wrong=0 ran=0
while read -r row when expected definitions; do
  [[ $row ]] || continue
  if (($#)); then
    [[ " $* " == *" $row "* || $1 == all ]] || continue
  elif [[ $when != test ]]; then
    continue
  fi
  began=$SECONDS states=0 found=unfinished
  # shellcheck disable=SC2086 # several definitions
  verdict "$row" $definitions
  note=
  [[ $found == "$expected" ]] || { note="  WRONG: expected $expected"; wrong=1; }
  printf '%-4s %-9s %10s states %4d s  %s%s\n' \
    "$row" "$found" "$states" $((SECONDS - began)) "$definitions" "$note"
  ran=$((ran + 1))
done <<<"$rows"
((ran)) || { echo "no such row: $*" >&2; exit 2; }
exit "$wrong"
