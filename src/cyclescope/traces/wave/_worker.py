"""The process that reads an FST or GHW.

Reads an order (JSON) from standard input; answers on standard output with a line of JSON, and
the columns of the changes behind it. Whatever else happens here, the parent calls a breakdown.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from typing import Any

__all__ = ["main"]


def main() -> None:
    """Read the order, obey the limits, answer."""
    order = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_AS, (order["memory"], order["memory"]))
    resource.setrlimit(resource.RLIMIT_CPU, (order["seconds"], order["seconds"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # The reader prints remarks, and its panics their own story: no news for the user.
    answer = os.fdopen(os.dup(1), "wb")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    columns: list[bytearray] = []
    try:
        reply, columns = _answer(order)
    except BaseException as error:  # noqa: BLE001 - a Rust panic is no Exception
        own = isinstance(error, ValueError)
        reply = {"refused": str(error) if own else f"{type(error).__name__}: {error}"}
    answer.write(json.dumps(reply).encode() + b"\n")
    for column in columns:
        answer.write(column)
    answer.flush()
    # Its threads may hang where the answer is long given.
    os._exit(0)


def _answer(order: dict[str, Any]) -> tuple[dict[str, Any], list[bytearray]]:
    from cyclescope import _native

    if "read" not in order:
        unit, scopes, signals, enumerations = _native.stored_signals(
            order["path"], order["signals"]
        )
        found = {"scopes": scopes, "signals": signals, "enumerations": enumerations}
        return {"unit": unit, **found}, []
    *columns, texts = _native.stored_changes(
        order["path"], order["read"], order["changes"], order["texts"]
    )
    return {"sizes": [len(column) for column in columns], "texts": texts}, columns
