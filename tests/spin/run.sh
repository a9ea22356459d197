#!/usr/bin/env bash
# run.sh [ROW...]: puts the model to SPIN and compares its verdicts with what is known of the Bully.
# Without ROW those of the tests; `all`: these and the longer ones. KEEP=DIRECTORY keeps what SPIN
# wrote, one directory a row: `spin -t DEFINITIONS bully.pml` there tells the schedule.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

for tool in spin gcc; do
  if ! command -v "$tool" >/dev/null; then
    echo "skipped: $tool not found" >&2
    [[ ${MUSTER_DEMAND_SPIN-} ]] && exit 1
    exit 77
  fi
done

# row; when it runs; the verdict; definitions of bully.pml
rows='
B1   test  holds     -DN=2 -DCAP=3
B2f  test  holds     -DN=3 -DFAILURES=1
U1   test  violated  -DN=2 -DANY -DFAILURES=0
U2   test  violated  -DN=3 -DANY -DFAILURES=0
M1   test  violated  -DN=3 -DM1 -DFAILURES=3
M2   test  violated  -DN=3 -DM2 -DFAILURES=3
M3   test  violated  -DN=3 -DM3 -DFAILURES=3
P2   test  violated  -DN=3 -DP2 -DFAILURES=3
P2b  test  violated  -DN=3 -DP2B -DFAILURES=3
M4b  test  violated  -DN=2 -DNOFIFO -DFAILURES=3 -DCAP=3
W    test  violated  -DN=3 -DWEDGED -DFAILURES=3
F2f  test  holds     -DN=3 -DR67 -DR612 -DFAILURES=1
B2   long  holds     -DN=3
M2b  long  violated  -DN=3 -DM2B -DFAILURES=3
F8   long  holds     -DN=3 -DF8 -DFAILURES=2
WF   long  holds     -DN=3 -DWEDGED -DR67 -DR612 -DFAILURES=2
F2   long  holds     -DN=3 -DR67 -DR612
'

if [[ ${KEEP-} ]]; then
  mkdir -p "$KEEP"
  work=$(cd "$KEEP" && pwd)
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi

# verdict ROW DEFINITION...: depth first, whatever the depth.
verdict() {
  local room=$work/$1 output
  mkdir -p "$room"
  cd "$room"
  cp "$here/bully.pml" .
  spin -a "${@:2}" bully.pml >spin.log || { cat spin.log >&2; return 1; }
  gcc "-O${OPTIMIZE-0}" -w -o pan pan.c -DSAFETY -DCOLLAPSE -DNOREDUCE -DMEMLIM=2048
  output=$(./pan -E -n -m5000000 2>&1) || true
  printf '%s\n' "$output" >pan.log
  states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log)
  if grep -q 'assertion violated' pan.log; then
    found=violated
  elif grep -q 'errors: 0' pan.log && ! grep -qiE 'search not completed|depth too small|out of memory' pan.log; then
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
