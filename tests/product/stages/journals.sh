#!/usr/bin/env bash
# The journals of a demo of three seconds.
printf '%s\n' 'wait normal' 'run 1s' 'kill coordinator' 'wait normal' 'run 2s' > three-seconds
muster demo --nodes 3 --T 500ms --script three-seconds --dir run
cd run || exit
