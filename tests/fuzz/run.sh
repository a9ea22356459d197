#!/usr/bin/env bash
# Fuzzes each target for this number of seconds: `run.sh BUILD [SECONDS]`. Findings go to
# build/fuzzed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
failed=0
for target in "$1"/bin/fuzz_*; do
  name=${target##*/}
  found=build/fuzzed/$name
  mkdir -p "$found"
  corpora=("$found")
  [[ ! -d tests/fuzz/corpus/$name ]] || corpora+=("tests/fuzz/corpus/$name")
  printf '%s for %s s\n' "$name" "${2:-60}" >&2
  "$target" -max_total_time="${2:-60}" -rss_limit_mb=1024 -timeout=10 -verbosity=0 \
    -artifact_prefix="$found-" "${corpora[@]}" || failed=1
done
exit $failed
