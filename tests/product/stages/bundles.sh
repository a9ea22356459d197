#!/usr/bin/env bash
# The bundles of three hosts.
muster postgres init --nodes a.example,b.example,c.example
