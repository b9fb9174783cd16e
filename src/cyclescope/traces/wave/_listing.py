"""The declarations of a waveform, for people: scopes and signals, by a pattern."""

from __future__ import annotations

import fnmatch
from collections import Counter
from typing import TYPE_CHECKING

from cyclescope.traces.wave._types import SignalKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclescope.traces.wave._types import Signal, Waveform

__all__ = ["listing"]


def listing(wave: Waveform, pattern: str = "") -> Iterator[str]:
    """Lines: each scope with its signals below it, then how many they are.

    Args:
        wave: an opened waveform.
        pattern: part of a full name, or all of it with `*`, `?` and `[...]`; any case.
    """
    chosen: list[tuple[Signal, str, str]] = []
    often: Counter[str] = Counter()
    number: dict[tuple[str, bytes], int] = {}
    first: dict[bytes, str] = {}
    for signal in wave.signals:
        name = signal.full_name
        if (name, signal.key) not in number:
            often[name] += 1
            number[name, signal.key] = often[name]
        place = number[name, signal.key]
        mark = "" if place == 1 else f"#{place}"
        same = first.setdefault(signal.key, f"{name}{mark}")
        if _matches(name, pattern):
            also = "" if same == f"{name}{mark}" else f"  = {_printable(same)}"
            chosen.append((signal, _printable(f"{signal.name}{mark}"), also))
    width = max((len(shown) for _, shown, _ in chosen), default=0)
    scope: tuple[str, ...] | None = None
    for signal, shown, also in sorted(chosen, key=lambda row: row[0].scope):
        if signal.scope != scope:
            scope = signal.scope
            yield _printable(".".join(part for part in scope if part) or "(no scope)")
        yield f"  {shown:<{min(width, 60)}}  {_form(signal)}{also}"
    scopes = len({signal.scope for signal, *_ in chosen})
    of = f" of {len(wave.signals):,}" if pattern else ""
    yield f"{len(chosen):,}{of} signals in {scopes:,} scopes"


def _matches(name: str, pattern: str) -> bool:
    if any(letter in pattern for letter in "*?["):
        return fnmatch.fnmatchcase(name.lower(), pattern.lower())
    return pattern.lower() in name.lower()


def _form(signal: Signal) -> str:
    if signal.kind is not SignalKind.BITS:
        return str(signal.kind.value)
    bits = f"{signal.width} bit" + "s" * (signal.width != 1)
    return f"{bits}, {len(signal.states)} names" if signal.states else bits


def _printable(text: str) -> str:
    """The text without what a terminal would obey."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
