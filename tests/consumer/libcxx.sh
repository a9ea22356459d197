#!/usr/bin/env bash
# Links a program for libc++ with the core and the lab, and runs it: `libcxx.sh BUILD`. Debian
# builds the Boost libraries for libstdc++, so the program compiles Boost.JSON in a file of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
flags=(-std=c++20 -stdlib=libc++ -fexperimental-library -fuse-ld=lld)
echo '#include <boost/json/src.hpp>' >"$1/json.cpp"
clang++-19 "${flags[@]}" -I{core,core/lab}/include \
  tests/consumer/project/use_lab.cpp "$1/json.cpp" \
  "$1/core/lab/libmuster_lab.a" "$1/core/libmuster_core.a" -pthread -o "$1/use_lab"
"$1/use_lab"
