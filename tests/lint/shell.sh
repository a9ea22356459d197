#!/usr/bin/env bash
# Runs shellcheck on every shell script of the working copy. The first line of a script names a
# shell.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
scripts=()
while read -r file; do
  [[ -f $file ]] || continue
  IFS= read -r first <"$file" 2>/dev/null || true
  [[ ! $first =~ ^#!.*[/\ ](ba|da)?sh ]] || scripts+=("$file")
done < <(git ls-files --cached --others --exclude-standard dev .ci apps docs tests)
shellcheck "${scripts[@]}"
