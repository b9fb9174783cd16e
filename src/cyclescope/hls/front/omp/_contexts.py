"""Context selectors (OpenMP 5.0, 2.3): what `metadirective` and `declare variant` ask for.

A selector is true where it is in a native run of the region: the hardware is compared with that,
and shares its memory. So the device is of kind `host` and `cpu`, and `any`; its architecture is
x86-64's; the implementation's vendor is `gnu`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cyclescope.errors import SourceError
from cyclescope.hls.front.omp._tokens import is_name, split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cyclescope.c import Range

__all__ = ["Selector", "selector_of"]

_TRUE = {
    "device": {"kind": {"host", "cpu", "any"}, "arch": {"x86", "x86_64"}, "isa": set[str]()},
    "implementation": {"vendor": {"gnu"}, "extension": set[str]()},
}
_CONSTRUCTS = ("target", "teams", "parallel", "for", "simd")


@dataclass(frozen=True, slots=True)
class Selector:
    """A context selector.

    Attributes:
        constructs: that must be around the place, outermost first.
        holds: whether all that it says besides is true.
        score: of what it says besides.
    """

    constructs: tuple[str, ...]
    holds: bool
    score: int

    def rank(self, around: Sequence[str]) -> int | None:
        """The score among the constructs around a place; None: it does not match there."""
        if not self.holds:
            return None
        here = [word for word in around if word in _CONSTRUCTS]
        score, at = self.score << len(here), 0
        for word in self.constructs:
            if word not in here[at:]:
                return None
            at = here.index(word, at) + 1
            score += 1 << (at - 1)
        return score


def selector_of(words: Sequence[str], where: Range) -> Selector:
    """A selector from its tokens.

    Raises:
        SourceError: it is none, or asks for what isn't known before the region runs.
    """
    constructs: tuple[str, ...] = ()
    holds, score = True, 0
    for part in split(words, ","):
        if not part:
            continue
        if len(part) < 4 or part[1:3] != ("=", "{") or part[-1] != "}":
            raise SourceError(f"{where}: `{' '.join(part)}` is not a selector; write device={{…}}")
        kind, inside = part[0], split(part[3:-1], ",")
        if kind == "construct":
            constructs = tuple(p[0] for p in inside if p)
            continue
        for name, values, given in _traits(inside):
            score += given
            if kind == "user" and name == "condition":
                holds = holds and _condition(values, where)
            elif kind in ("device", "target_device", "implementation"):
                known = _TRUE.get(kind.removeprefix("target_"), {}).get(name, set())
                holds = holds and all(" ".join(v).strip('"') in known for v in split(values, ","))
                score += {"kind": 1, "arch": 2, "isa": 4}.get(name, 0)
            else:
                raise SourceError(f"{where}: `{kind}` is not a selector; write device={{…}}")
    return Selector(constructs, holds, score)


def _traits(parts: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """The name of each trait, what is in its parentheses, and the score that is given there."""
    for part in parts:
        name, values = (part or ("",))[0], tuple(part[2:-1])
        score = 0
        if values[:2] == ("score", "(") and ":" in values:
            cut = values.index(":")
            score = int(values[2]) if values[2].isdecimal() else 0
            values = values[cut + 1 :]
        yield name, values, score


def _condition(words: Sequence[str], where: Range) -> bool:
    if len(words) == 1 and (words[0].isdecimal() or words[0] in ("true", "false")):
        return words[0] not in ("0", "false")
    shown = " ".join(words)
    named = any(is_name(w) for w in words)
    why = "isn't known before the region runs" if named else "is no number"
    raise SourceError(f"{where}: condition({shown}) {why}; write condition(0) or condition(1)")
