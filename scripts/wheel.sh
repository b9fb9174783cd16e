#!/bin/sh
# Build the wheel for other machines into dist/: any Linux with glibc 2.28 or newer, CPython 3.11 or newer.
#
# Zig is the C compiler and linker, with the symbols of that glibc, so that it does not matter how new
# the system is on which this runs. auditwheel then says of what the library in the wheel asks.
set -eu
cd "$(dirname "$0")/.."

platform=manylinux_2_28
tools=build/wheel-tools
python=${PYTHON:-python3}
[ -x "$tools/bin/maturin" ] || {
    "$python" -m venv "$tools"
    "$tools/bin/python" -m pip install --quiet --disable-pip-version-check \
        --require-hashes --only-binary :all: -r scripts/wheel.lock
}
PATH=$PWD/$tools/bin:$PATH
export PATH

# A copy of what is committed, with the version of its tag.
copy=build/wheel-source
rm -rf "$copy" build/wheel-zig
mkdir -p "$copy"
git archive HEAD | tar -x -C "$copy"
version=$("$tools/bin/python" scripts/version.py --write "$copy")
echo "wheel: cyclescope $version for $platform; the first build takes some minutes"
CARGO_TARGET_DIR=$PWD/rust/target-wheel
export CARGO_TARGET_DIR
(cd "$copy" && maturin build --release --locked --zig --compatibility "$platform" \
    --quiet --out ../wheel-zig)
wheel=$(echo build/wheel-zig/*.whl)
"$tools/bin/python" -m auditwheel show "$wheel"
# Refuses a wheel that asks for more than the platform has, or for libraries that it does not have.
mkdir -p dist
"$tools/bin/python" -m auditwheel repair --plat "${platform}_$(uname -m)" --only-plat \
    --wheel-dir dist "$wheel"
