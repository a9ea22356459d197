#!/usr/bin/env bash
# Every shell script of the working copy, by shellcheck.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
find tests -name '*.sh' -exec \
  shellcheck dev .ci/{run,install,timed} apps/packaging/{postinst,prerm,postrm} {} +
