"""Runs a command on a system that lacks some calls: `without.py NUMBER,NUMBER COMMAND...`.

A filter makes the kernel answer as one without them does, so that it can be seen what becomes of a
run where a mechanism is missing. See seccomp(2).
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERRNO, _ENOSYS = 0x7FFF0000, 0x00050000, 38
_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER = 38, 22, 2


def main() -> None:
    calls = [int(word) for word in sys.argv[1].split(",")]
    code = struct.pack("=HBBI", _LOAD, 0, 0, 0)
    for call in calls:
        code += struct.pack("=HBBI", _EQUAL, 0, 1, call)
        code += struct.pack("=HBBI", _RETURN, 0, 0, _ERRNO | _ENOSYS)
    code += struct.pack("=HBBI", _RETURN, 0, 0, _ALLOW)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    ones = [ctypes.c_ulong(0)] * 3
    if libc.prctl(_NO_NEW_PRIVS, ctypes.c_ulong(1), *ones):
        raise OSError(ctypes.get_errno(), "no_new_privs")
    if libc.prctl(_SET_SECCOMP, ctypes.c_ulong(_FILTER), ctypes.c_char_p(program)):
        raise OSError(ctypes.get_errno(), "seccomp")
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
