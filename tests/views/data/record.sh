#!/bin/sh
# Record the profiles here anew: sh tests/views/data/record.sh, from the repository's root.
set -eu
data=tests/views/data
rows=tests/analyse/data/rows.c
cyclescope hls "$rows" -D CHUNK=8 --sample 256 -o "$data/rows.cyc" --force
cyclescope hls "$rows" -D CHUNK=8 --sample 256 --profile -o "$data/rows-unit.cyc" --force
cyclescope ladder "$rows" -D CHUNK=8 -o "$data/rows-ladder.cyc" --force
