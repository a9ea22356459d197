#!/usr/bin/env bash
# Formats all C++ files of the working copy: `format.sh [--check]`. With --check it changes nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
how=(-i)
[[ ${1-} != --check ]] || how=(--dry-run --Werror)
find core storage net apps tests -name '*.hpp' -o -name '*.cpp' | sort |
  xargs -P "$(nproc)" -n 100 clang-format-14 "${how[@]}"
