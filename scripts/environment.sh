#!/bin/sh
# environment.sh FOLDER LOCK MB: make an environment with the locked versions of what is in LOCK.
set -eu

folder=$1
lock=$2
size=$3

python=${PYTHON:-python3}
fail() { echo "setup: $1" >&2; exit 1; }

command -v "$python" >/dev/null || fail "no $python; install Python 3.11 or newer"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "$("$python" --version) is too old; set PYTHON to a Python 3.11 or newer"
command -v cargo >/dev/null || fail "no cargo; install Rust 1.90 or newer (rustup)"
# rustup puts a cargo into PATH that starts only once a toolchain is chosen, and looks for it in HOME.
rust=$(cargo --version 2>/dev/null | sed -n 's/^cargo \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
[ -n "$rust" ] || fail "cargo does not start; see what 'cargo --version' says (rustup default stable)"
# shellcheck disable=SC2086  # two numbers
set -- $rust
[ "$1" -gt 1 ] || [ "$2" -ge 90 ] ||
    fail "cargo $1.$2 is too old; install Rust 1.90 or newer (rustup; Debian's is older)"
compiler=${CXX:-clang++}
command -v "${compiler%% *}" >/dev/null || command -v g++ >/dev/null ||
    fail "no C++ compiler; install one (Debian: apt install g++)"

if ! "$python" -m venv --clear "$folder" >/dev/null 2>&1; then
    # Debian splits venv's pip off into a package of its own. With a pip around, we need none.
    rm -rf "$folder"
    if "$python" -m venv --without-pip "$folder" >/dev/null 2>&1 &&
        "$python" -m pip --version >/dev/null 2>&1; then
        "$python" -m pip --python "$folder/bin/python" install --quiet pip
    elif [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        rm -rf "$folder"
        apt-get update -qq && apt-get install -qq -y python3-venv >/dev/null
        "$python" -m venv "$folder"
    else
        rm -rf "$folder"
        fail "$python cannot make virtual environments; install python3-venv"
    fi
fi
echo "setup: installing Python packages into $folder ($size MB, once)"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check \
    --require-hashes --only-binary :all: -r "$lock"
