"""Threads that wait for memory: element by element, or for the same data again (Nymble, V-C)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cyclescope.analyse.rules._rule import Place, Rule
from cyclescope.analyse.rules._threads import Loop, Threads, Wait, accesses, terms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cyclescope.analyse.rules._facts import Facts

__all__ = ["BLOCKING", "VECTOR"]

_BOUND = 0.25  # of its time a thread waits for memory: below, other things matter more
_NARROW = 8  # bytes of a request: an element or two
_WIDTH = 4  # elements of a vector, and rows of a block, in the paper's programs
_REUSE = 0.5  # floating-point operations for each byte: below, little is done with what is read


def _bound(threads: Threads) -> bool:
    running = sum(threads.state("running"))
    return running > 0 and sum(threads.stalled()) >= _BOUND * running


def _loads(threads: Threads) -> list[Wait]:
    """Waits for loads in the innermost loops, longest first; one for each array and line."""
    deepest = {line for loop in threads.loops.values() for line in loop.around}
    seen: dict[tuple[str, int], Wait] = {}
    for wait in threads.waits:
        loop = threads.loop_of(wait.line)
        if wait.verb == "load of" and loop is not None and loop.line not in deepest:
            seen.setdefault((wait.array, wait.line), wait)
    return list(seen.values())


def _saved(threads: Threads, loop: Loop) -> int:
    """Of what threads wait in a loop, a thread's part that so many elements at once don't need."""
    here = sum(
        wait.cycles
        for wait in threads.waits
        if wait.verb in ("load of", "store to") and threads.loop_of(wait.line) == loop
    )
    return int(min(here, sum(threads.stalled())) / threads.count * (1 - 1 / _WIDTH))


def _narrow(facts: Facts) -> Iterable[Place]:
    threads = Threads(facts)
    requests = threads.total("memory requests")
    moved = sum(threads.counter("bytes read")) + sum(threads.counter("bytes written"))
    if not requests or moved > _NARROW * requests or not _bound(threads):
        return
    stalled, running = threads.stalled(), threads.state("running")
    for wait in _loads(threads):
        loop = threads.loop_of(wait.line)
        text = threads.text(wait.line)
        if loop is None or not _consecutive(text, wait.array, loop.variable):
            continue
        yield threads.place(
            f"load of {wait.array}, line {wait.line}",
            wait.line,
            evidence=(
                f"{requests:,} requests move {moved / requests:.1f} bytes each; threads wait "
                f"{sum(stalled):,} of {sum(running):,} thread-cycles for memory, "
                f"{wait.cycles:,} of them here; {loop.variable} walks along {wait.array}"
            ),
            saving=_saved(threads, loop),
            at_most=max(running),
        )


def _consecutive(text: str, array: str, variable: str) -> bool:
    """Whether neighbouring iterations read neighbouring elements, one at a time."""
    # Behind a cast to a vector it is read several at a time already.
    vector = re.search(rf"\*\s*\)\s*&\s*{re.escape(array)}\s*\[", text)
    if not variable or vector is not None:
        return False
    # Elements of the last dimension lie side by side.
    return any(
        _adds(inside[-1], variable)
        and not any(re.search(rf"\b{variable}\b", outer) for outer in inside[:-1])
        for inside in accesses(text, array)
    )


def _adds(sum_: str, variable: str) -> bool:
    """Whether a variable is a term of a sum by itself, not multiplied."""
    for term in terms(sum_):
        inner = term.lstrip("-").strip()
        if inner == variable:
            return True
        # Brackets around the whole term: nothing is multiplied outside.
        bracketed = inner.startswith("(") and inner.endswith(")") and "(" not in inner[1:]
        if bracketed and _adds(inner[1:-1], variable):
            return True
    return False


def _again(facts: Facts) -> Iterable[Place]:
    threads = Threads(facts)
    moved = sum(threads.counter("bytes read"))
    work = sum(threads.counter("floating-point operations"))
    if not moved or work >= _REUSE * moved or not _bound(threads):
        return
    stalled, running = threads.stalled(), threads.state("running")
    for wait in _loads(threads):
        loop = threads.loop_of(wait.line)
        every = accesses(threads.text(wait.line), wait.array)
        inside = " ".join(" ".join(dimensions) for dimensions in every)
        if loop is None or not inside:
            continue
        around = [threads.loops[line] for line in loop.around if line in threads.loops]
        unused = [o for o in around if o.variable and not re.search(rf"\b{o.variable}\b", inside)]
        if not unused:
            continue
        outer = unused[-1]
        yield threads.place(
            f"load of {wait.array}, line {wait.line}",
            wait.line,
            evidence=(
                f"{work:,} floating-point operations on {moved:,} bytes read "
                f"({work / moved:.2f} each); threads wait {sum(stalled):,} of {sum(running):,} "
                f"thread-cycles for memory; {wait.array} is read again in each round of the loop "
                f"over {outer.variable} (line {outer.line})"
            ),
            saving=_saved(threads, loop),
            at_most=max(running),
        )


VECTOR = Rule(
    name="narrow-loads",
    title="memory read element by element",
    reference="Nymble and Paraver, section V-C: partial vectorization",
    change=(
        "Read several neighbours at once, by a pointer to a vector type, and unroll the work on "
        "them: VECTOR a = *((VECTOR *)&A[...])."
    ),
    verify=(
        "Fewer and wider requests (cyclescope summary, bytes and requests), and cyclescope diff."
    ),
    sources=frozenset({"hls"}),
    find=_narrow,
    additive=False,
)

BLOCKING = Rule(
    name="blocking",
    title="the same data read from memory again and again",
    reference="Nymble and Paraver, section V-C: blocked version",
    change=(
        "Bring a block into local memory once and compute with it as often as it is needed, "
        "before the next one comes."
    ),
    verify="Fewer bytes read (cyclescope summary), and cyclescope diff.",
    sources=frozenset({"hls"}),
    find=_again,
    additive=False,
)
