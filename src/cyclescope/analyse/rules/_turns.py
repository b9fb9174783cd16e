"""Whether phases must take turns, from the text: one fills a buffer that the next one reads.

Where a profile does not say when threads are in which loop, what they wait for in which line and
the text say as much: a loop brings data into a local array, and a later one in the same round
computes with it, so the later one cannot begin before they are there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cyclescope.analyse._texts import counter_of
from cyclescope.analyse.rules._threads import subscripts, terms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse.rules._threads import Loop, Threads

__all__ = ["roles", "turns"]

Buffer = tuple[tuple[str, ...], ...]
"""Of each dimension what does not change while a phase lasts: which buffer it is."""

_NAME = re.compile(r"\b([A-Za-z_]\w*)\s*(?=\[)")
_ASSIGNED = re.compile(r"\s*=(?!=)")


def roles(threads: Threads, waiting: Iterable[int]) -> dict[int, bool]:
    """Loops that do nothing but load (True), and those in which nothing is loaded (False).

    Args:
        threads: with the loops.
        waiting: the lines at which threads wait for what they load.

    Returns:
        By the line of a loop's head. A loop that loads and does other things is not there.
    """
    loops = threads.loops
    homes = {home.line for line in waiting if (home := threads.loop_of(line)) is not None}
    inner: dict[int, list[int]] = {line: [] for line in loops}
    for loop in loops.values():
        if loop.around and loop.around[-1] in inner:
            inner[loop.around[-1]].append(loop.line)
    result: dict[int, bool] = {}
    for line in sorted(loops, key=lambda line: -len(loops[line].around)):
        parts = [result.get(part) for part in inner[line]]
        if all(parts) and (parts or line in homes):
            result[line] = True
        elif line not in homes and all(part is False for part in parts):
            result[line] = False
    return result


def turns(
    threads: Threads, loading: Iterable[int], computing: Iterable[int]
) -> dict[int, list[str]]:
    """The computing loops that cannot begin before loops beside them have filled a buffer.

    Args:
        threads: with the loops, from the text.
        loading: loops beside each other that only load.
        computing: loops beside these in which nothing is loaded.

    Returns:
        For each such loop the arrays that it waits for; nothing at all if one of the others reads
        what an earlier round brought in: then the phases overlap already.
    """
    filled = {line: _accesses(threads, threads.loops[line], written=True) for line in loading}
    arrays = {name for found in filled.values() for name, _ in found}
    result = {}
    for line in computing:
        read = _accesses(threads, threads.loops[line], written=False)
        before = {one for other, found in filled.items() if other < line for one in found}
        if names := sorted({name for name, _ in read & before}):
            result[line] = names
        elif any(name in arrays for name, _ in read):
            return {}
    return result


def _accesses(threads: Threads, loop: Loop, *, written: bool) -> set[tuple[str, Buffer]]:
    """The arrays that a loop's lines assign to, or read, and which buffer of each."""
    texts = [threads.text(line) for line in range(loop.line, (loop.end or loop.line) + 1)]
    counters = {counter_of(text) for text in texts} - {""}
    found = set()
    for text in texts:
        for match in _NAME.finditer(text):
            inside, end = subscripts(text, match.end())
            if (_ASSIGNED.match(text, end) is not None) is written:
                found.add((match[1], tuple(_fixed(sum_, counters) for sum_ in inside)))
    return found


def _fixed(sum_: str, counters: set[str]) -> tuple[str, ...]:
    """The terms of a subscript in which no counter stands."""
    bare = ("".join(term.split()) for term in terms(sum_))
    return tuple(sorted(t for t in bare if t and not counters & set(re.findall(r"\w+", t))))
