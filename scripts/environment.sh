#!/bin/sh
# Make .venv with the locked versions of everything that the package and its tests need.
set -eu

python=${PYTHON:-python3}
fail() { echo "setup: $1" >&2; exit 1; }

command -v "$python" >/dev/null || fail "no $python; install Python 3.11 or newer"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "$("$python" --version) is too old; set PYTHON to a Python 3.11 or newer"
command -v cargo >/dev/null || fail "no cargo; install Rust (Debian: apt install cargo, or rustup)"

if ! "$python" -m venv --clear .venv >/dev/null 2>&1; then
    # Debian splits venv's pip off into a package of its own. With a pip around, we need none.
    rm -rf .venv
    if "$python" -m venv --without-pip .venv >/dev/null 2>&1 &&
        "$python" -m pip --version >/dev/null 2>&1; then
        "$python" -m pip --python .venv/bin/python install --quiet pip
    elif [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        rm -rf .venv
        apt-get update -qq && apt-get install -qq -y python3-venv >/dev/null
        "$python" -m venv .venv
    else
        rm -rf .venv
        fail "$python cannot make virtual environments; install python3-venv"
    fi
fi
echo "setup: installing Python packages into .venv (900 MB, once)"
.venv/bin/python -m pip install --quiet --disable-pip-version-check \
    --require-hashes --only-binary :all: -r requirements.lock
