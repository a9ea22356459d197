#!/usr/bin/env bash
# clang-tidy over the unity files of core, storage, net and apps: `tidy.sh BUILD`.
set -euo pipefail
find "$1"/{core,storage,net,apps} -name 'unity_*_cxx.cxx' -print0 |
  xargs -0 -P "$(nproc)" -n 1 \
    clang-tidy-19 -p "$1" --quiet --extra-arg=-w --warnings-as-errors='*'
