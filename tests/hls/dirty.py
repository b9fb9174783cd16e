"""Hardware that begins with anything in its memories and registers: a reset must be enough."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclescope.hls import Machine

_STATE = re.compile(
    r"^  (?:\(\*.*\*\) )?reg (?:\[(\d+):0\] )?(\w+)(?: \[0:(\d+)\])?;", re.MULTILINE
)


def dirty(machine: Machine, seed: int = 1) -> Machine:
    """The same with random bits in all registers, and in block RAM that configuration clears."""
    rng = random.Random(seed)
    return replace(machine, sources={n: _begun(t, rng) for n, t in machine.sources.items()})


def _begun(text: str, rng: random.Random) -> str:
    parts = re.split(r"(?<=\nendmodule\n)", text)
    return "".join(_begun_module(part, rng) for part in parts)


def _begun_module(text: str, rng: random.Random) -> str:
    lines: list[str] = []
    for top, name, last in _STATE.findall(text):
        if re.search(rf"^    {name}\[0\] = ", text, re.MULTILINE):
            continue  # a table
        width = int(top or 0) + 1
        places = [f"{name}[{n}]" for n in range(int(last) + 1)] if last else [name]
        lines += [f"    {place} = {width}'h{rng.getrandbits(width):x};\n" for place in places]
    if not lines:
        return text
    body = text.removesuffix("endmodule\n")
    assert body != text
    return "".join([body, "  initial begin\n", *lines, "  end\nendmodule\n"])
