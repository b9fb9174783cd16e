#!/bin/sh
# Record the profiles here anew: sh tests/analyse/data/record.sh, from the repository's root.
set -eu
gemm=examples/hls/gemm
data=tests/analyse/data
for version in 1-naive 2-no-critical 3-vectors 4-blocked 5-double-buffering; do
    cyclescope hls "$gemm/$version.c" -D DIM=32 --sample 65536 -o "$data/gemm-$version.cyc" --force
done
for version in 1-naive 3-vectors 4-blocked 5-double-buffering; do
    cyclescope hls "$gemm/$version.c" -D DIM=32 --sample 65536 --profile \
        -o "$data/unit-$version.cyc" --force
done
for cost in 1 2500; do
    cyclescope hls examples/hls/pi/pi.c --args 16000 --start-cost "$cost" --sample 65536 \
        -o "$data/pi-start-$cost.cyc" --force
done
cyclescope hls "$data/rows.c" -D CHUNK=8 --sample 256 -o "$data/rows-block.cyc" --force
cyclescope hls "$data/rows.c" -D CHUNK=1 --sample 256 -o "$data/rows-cyclic.cyc" --force
