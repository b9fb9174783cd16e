"""A stand-in for the program `calyx`: its command line over the compiler in cyclescope's package.

python tests/calyx/stand_in.py FILE -l LIBRARY -p PASS… [-d PASS…] [-x OPTION…] -b BACKEND
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from cyclescope import _native


def main() -> int:
    if sys.argv[1:] == ["--version"]:
        print(f"Calyx compiler version {_native.CALYX_VERSION}")
        return 0
    if sys.argv[1:] == ["pass-help"]:
        print(_native.pass_help())
        return 0
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("-b", choices=["calyx", "verilog"])
    parser.add_argument("-l", type=Path)
    for name in ("-p", "-d", "-x"):
        parser.add_argument(name, action="append", default=[])
    parser.add_argument("--disable-verify", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        library = given.l or work / "library"
        if given.l is None:
            _native.write_library(library)
        try:
            if given.b == "verilog":
                arguments = (given.file, library, work, {}, given.p, given.d, given.x)
                print(_native.compile(*arguments, instrument=False, bound=False)[0])
            else:
                arguments = (given.file, library, given.p, given.d, given.x)
                print(_native.print_program(*arguments))
        except _native.CompileError as error:
            message, file, _ = error.args
            print(f"Error: {file}\n1 |\n  | ^^^ {message}" if file else f"Error: {message}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
