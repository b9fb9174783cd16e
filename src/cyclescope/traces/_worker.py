"""What runs in the process that reads a waveform with pywellen.

Reads an order (JSON) from standard input; answers `ok` or `refused`, a newline, and the signals
(JSON), the changes (numpy), or why not. Whatever else happens here, the parent calls a breakdown.
"""

from __future__ import annotations

import io
import json
import os
import resource
import sys
from array import array
from typing import Any

from cyclescope.traces._wave import MAX_BITS, UNKNOWN

__all__ = ["main"]


class _RefusedError(Exception):
    """What the user should be told."""


def main() -> None:
    """Read the order, obey the limits, answer."""
    order = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_AS, (order["memory"], order["memory"]))
    resource.setrlimit(resource.RLIMIT_CPU, (order["seconds"], order["seconds"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A panic prints its own story, which is no news for the user.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        status, reply = b"ok", _answer(order)
    except BaseException as error:  # noqa: BLE001 - a Rust panic is no Exception
        status, reply = b"refused", f"{type(error).__name__}: {error}".encode()
        if isinstance(error, _RefusedError):
            reply = str(error).encode()
    sys.stdout.buffer.write(status + b"\n" + reply)
    sys.stdout.buffer.flush()
    # Its threads may hang where the answer is long given.
    os._exit(0)


def _answer(order: dict[str, Any]) -> bytes:
    import pywellen

    waveform = pywellen.WaveformStream(
        order["path"], multi_threaded=False, remove_scopes_with_empty_name=False
    )
    if "read" in order:
        return _changes(waveform, order["read"], order["changes"])
    return _signals(waveform, order["signals"])


def _signals(waveform: Any, limit: int) -> bytes:
    rows: list[tuple[list[str], str, int, str]] = []
    waiting = [([scope.name], scope) for scope in waveform.scopes()]
    waiting.reverse()
    rows.extend(_row([], variable) for variable in waveform.vars())
    while waiting:
        names, scope = waiting.pop()
        rows.extend(_row(names, variable) for variable in scope.vars())
        if len(rows) > limit:
            raise _RefusedError(f"it has more than {limit:,} variables")
        inner = [([*names, below.name], below) for below in scope.scopes()]
        waiting.extend(reversed(inner))
    scale = waveform.timescale
    tick = None
    if scale is not None and (exponent := scale.unit.to_exponent()) is not None:
        exact = scale.factor * 10 ** (exponent + 15) if exponent >= -15 else 0
        tick = exact or None
    return json.dumps({"tick_fs": tick, "signals": rows}).encode()


def _row(scope: list[str], variable: Any) -> tuple[list[str], str, int, str]:
    return scope, variable.name, variable.bitwidth or 0, str(variable.signal_id)


def _changes(waveform: Any, keys: list[str], limit: int) -> bytes:
    import numpy as np

    place = {key: number for number, key in enumerate(keys)}
    wanted = {str(v.signal_id): v for v in waveform.all_vars() if str(v.signal_id) in place}
    times, signals, values = array("q"), array("i"), array("q")

    def take(time: int, signal: object, value: object) -> None:
        if len(times) >= limit:
            raise _RefusedError(f"more than {limit:,} changes")
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            raise _RefusedError(f"a value has more than {MAX_BITS} bits")
        times.append(time)
        signals.append(place[str(signal)])
        values.append(value if isinstance(value, int) else UNKNOWN)

    if wanted:
        waveform.stream_changes(take, list(wanted.values()))
    buffer = io.BytesIO()
    np.savez(
        buffer,
        time=np.frombuffer(times, dtype=np.int64) if times else np.empty(0, np.int64),
        signal=np.frombuffer(signals, dtype=np.int32) if signals else np.empty(0, np.int32),
        value=np.frombuffer(values, dtype=np.int64) if values else np.empty(0, np.int64),
    )
    return buffer.getvalue()
