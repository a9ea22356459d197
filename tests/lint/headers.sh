#!/usr/bin/env bash
# Compiles each internal header alone, since unity builds would hide a missing include: `headers.sh
# COMPILER`. The test consumer/headers compiles the public headers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
find {core,core/lab,storage,net}/internal {core,net}/include/muster/detail -name '*.hpp' |
  xargs -P "$(nproc)" -I{} "$1" -std=c++20 -fsyntax-only \
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror \
    -I{core,core/lab,storage,net}/{include,internal} -x c++ -include {} /dev/null
