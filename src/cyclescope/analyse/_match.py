"""The match of call paths between two profiles, though blocks were renamed or moved.

Matching goes from the root down, one cell at a time, since a statement has one path in each
call of its cell. Within a cell, in this order:

1. children of matched blocks that are called the same, apart from line numbers (`if L31`; a
   loop is called what it counts); where several are, those whose contents agree best, then in
   the order of the text;
2. groups and cells that are called the same but are elsewhere: *moved*;
3. control blocks that hold the same matched groups, at least half of them; rather of the
   same operator (the `par` of `if`s that became nested `if`s);
4. what is left below matched blocks: alike by name or contents, or all that is left has one
   shape on both sides: *renamed*.

Cells that moved to another cell come last. All rules are symmetric: match(B, A) is match(A, B)
turned round.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from difflib import SequenceMatcher
from functools import cache
from typing import TYPE_CHECKING

from cyclescope.model import Frame, Kind, Loop, Profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["match_paths", "plain_name"]

_HOLDERS = (Kind.CONTROL, Kind.LOOP)  # told apart by what they hold, not by their names
_BOUNDARY = (Kind.CELL, Kind.THREAD)
_HALF = 0.5
_ALIKE = 0.6

_Key = tuple[str, str, str]


def plain_name(frame: Frame) -> str:
    """A frame's name without the place that tells it from its namesakes: ` L12`, ` L12:3`."""
    for at in frame.positions[:1]:
        for place in (f"L{at.line}", f"L{at.line}:{at.column}"):
            if frame.name == place:
                return ""
            if frame.name.endswith(f" {place}"):
                return frame.name[: -len(place) - 1]
    return frame.name


def _names(profile: Profile) -> list[str]:
    """For each frame what its counterpart is called, too; of a loop what it counts."""
    names = [plain_name(frame) for frame in profile.catalog]
    for site in profile.sites:
        if isinstance(site, Loop) and site.frame >= 0:
            names[site.frame] = site.counter
    return names


def match_paths(before: Profile, after: Profile) -> tuple[int, ...]:
    """For each path of `before` its counterpart in `after`, -1 where there is none.

    No two paths share a counterpart. A profile matched with itself gives every path itself.
    """
    shapes: dict[tuple[object, ...], int] = {}
    return _Matching(_Side(before, shapes), _Side(after, shapes)).run()


class _Side:
    """One profile's paths as a forest, cut at cells."""

    def __init__(self, profile: Profile, shapes: dict[tuple[object, ...], int]) -> None:
        paths = profile.call_paths
        self.parent: list[int] = paths.parent.tolist()
        numbers, names = paths.frame.tolist(), _names(profile)
        frames = [profile.catalog[f] for f in numbers]
        self.kind = [frame.kind for frame in frames]
        self.key: list[_Key] = [
            (str(f.kind), names[number], f.detail)
            for number, f in zip(numbers, frames, strict=True)
        ]
        place = [
            (f.positions[0].line, f.positions[0].column) if f.positions else () for f in frames
        ]
        self.children: dict[int, list[int]] = defaultdict(list)
        for path, parent in enumerate(self.parent):
            self.children[parent].append(path)
        for below in self.children.values():
            # The order of the text where all have a place in it, else that of appearance.
            if all(place[path] for path in below):
                below.sort(key=lambda path: (place[path], path))
        self.partner = [-1] * len(self.parent)
        self.shape, self.height = self._forms(shapes)

    def _forms(self, shapes: dict[tuple[object, ...], int]) -> tuple[list[int], list[int]]:
        """For each path a number of its form, and the longest way down over blocks.

        Equal numbers: the same kinds of frame below in the same order.
        """
        shape = [0] * len(self.parent)
        height = [1] * len(self.parent)
        for path in range(len(self.parent) - 1, -1, -1):
            inside = [] if self.kind[path] in _BOUNDARY else self.children[path]
            form = (self.kind[path], *(shape[child] for child in inside))
            shape[path] = shapes.setdefault(form, len(shapes))
            height[path] += max((height[c] for c in inside if self.kind[c] in _HOLDERS), default=0)
        return shape, height

    def below(self, root: int) -> list[int]:
        """The paths below one, in order, down to the next cells."""
        result: list[int] = []
        waiting = self.children[root][::-1]
        while waiting:
            path = waiting.pop()
            result.append(path)
            if self.kind[path] not in _BOUNDARY:
                waiting += self.children[path][::-1]
        return result

    def free(self, paths: Iterable[int]) -> list[int]:
        """Those without a counterpart."""
        return [path for path in paths if self.partner[path] < 0]


class _Matching:
    def __init__(self, a: _Side, b: _Side) -> None:
        self.a, self.b = a, b
        self.cells: list[tuple[int, int]] = [(-1, -1)]

    def run(self) -> tuple[int, ...]:
        while self.cells:
            while self.cells:
                self._inside(*self.cells.pop())
            self._moved_cells()
        return tuple(self.a.partner)

    def _pair(self, x: int, y: int) -> None:
        self.a.partner[x], self.b.partner[y] = y, x
        if self.a.kind[x] in _BOUNDARY:
            self.cells.append((x, y))

    def _inside(self, x: int, y: int) -> None:
        """Match what lies in one call of a cell."""
        left, right = self.a.below(x), self.b.below(y)
        self._down(x, y)
        self._by_name(left, right, unique=True)
        self._holders(left, right)
        self._by_name(left, right, unique=False)
        self._renamed(x, y)
        for path in left:
            # The contents of cells follow when their own cell is matched.
            if self.a.partner[path] >= 0 and self.a.kind[path] not in _BOUNDARY:
                self._renamed(path, self.a.partner[path])

    def _down(self, x: int, y: int) -> None:
        """Match equally called children of a matched pair, and theirs."""
        waiting = [(x, y)]
        while waiting:
            x, y = waiting.pop()
            lefts = _grouped(self.a, self.a.free(self.a.children[x]))
            rights = _grouped(self.b, self.b.free(self.b.children[y]))
            for key in sorted(lefts.keys() & rights.keys()):
                for pair in self._best(lefts[key], rights[key]):
                    self._pair(*pair)
                    if self.a.kind[pair[0]] not in _BOUNDARY:
                        waiting.append(pair)

    def _best(self, lefts: Sequence[int], rights: Sequence[int]) -> list[tuple[int, int]]:
        if len(lefts) == len(rights) == 1:
            return [(lefts[0], rights[0])]
        scores = {
            (i, j): _dice(self._contents(self.a, x), self._contents(self.b, y))
            for i, x in enumerate(lefts)
            for j, y in enumerate(rights)
        }
        return [(lefts[i], rights[j]) for i, j in _greedy(scores)]

    @staticmethod
    def _contents(side: _Side, path: int) -> Counter[_Key]:
        return Counter(side.key[p] for p in side.below(path))

    def _by_name(self, left: list[int], right: list[int], *, unique: bool) -> None:
        """Match groups and cells that are elsewhere in the cell under the same name."""
        lefts = _grouped(self.a, [p for p in self.a.free(left) if self._named(self.a, p)])
        rights = _grouped(self.b, [p for p in self.b.free(right) if self._named(self.b, p)])
        for key in sorted(lefts.keys() & rights.keys()):
            if unique and not len(lefts[key]) == len(rights[key]) == 1:
                continue
            for x, y in zip(lefts[key], rights[key], strict=False):
                if self.a.partner[x] < 0 and self.b.partner[y] < 0:
                    self._pair(x, y)
                    if self.a.kind[x] not in _BOUNDARY:
                        self._down(x, y)

    @staticmethod
    def _named(side: _Side, path: int) -> bool:
        # A primitive belongs to the group that calls it.
        return side.kind[path] not in (*_HOLDERS, Kind.PRIMITIVE)

    def _holders(self, left: list[int], right: list[int]) -> None:
        """Match control blocks by the matched groups and cells that they hold."""
        lefts = [p for p in self.a.free(left) if self.a.kind[p] in _HOLDERS]
        rights = [p for p in self.b.free(right) if self.b.kind[p] in _HOLDERS]
        if not lefts or not rights:
            return
        rank_of = {path: rank for rank, path in enumerate(rights)}
        common: Counter[tuple[int, int]] = Counter()
        held = {path: self._held(self.a, path) for path in lefts}
        holding = {path: self._held(self.b, path) for path in rights}
        above: dict[int, list[int]] = defaultdict(list)
        for path, inside in holding.items():
            for inner in inside:
                above[inner].append(rank_of[path])
        for i, path in enumerate(lefts):
            common.update((i, j) for p in held[path] for j in above[self.a.partner[p]])
        scores = {}
        for (i, j), count in common.items():
            x, y = lefts[i], rights[j]
            share = 2 * count / (len(held[x]) + len(holding[y]))
            if share >= _HALF:
                scores[i, j] = share + (self.a.key[x] == self.b.key[y])
        # Of nested blocks that hold the same, those that are equally far from it.
        tall = [self.a.height[p] for p in lefts], [self.b.height[p] for p in rights]
        for i, j in _greedy(scores, *tall):
            self._pair(lefts[i], rights[j])
        for x in lefts:
            if self.a.partner[x] >= 0:
                self._down(x, self.a.partner[x])

    def _held(self, side: _Side, path: int) -> list[int]:
        return [p for p in side.below(path) if self._named(side, p) and side.partner[p] >= 0]

    def _renamed(self, x: int, y: int) -> None:
        """Match what is left among a matched pair's children, and theirs."""
        waiting = [(x, y)]
        while waiting:
            x, y = waiting.pop()
            for p, q in self._alike(x, y):
                self._pair(p, q)
                if self.a.kind[p] not in _BOUNDARY:
                    self._down(p, q)
                    waiting.append((p, q))

    def _alike(self, x: int, y: int) -> list[tuple[int, int]]:
        lefts, rights = (self.a.free(self.a.children[x]), self.b.free(self.b.children[y]))
        if [self.a.shape[p] for p in lefts] == [self.b.shape[p] for p in rights]:
            return list(zip(lefts, rights, strict=True))
        scores = {
            (i, j): score
            for i, p in enumerate(lefts)
            for j, q in enumerate(rights)
            if (score := self._likeness(p, q)) >= _ALIKE
        }
        return [(lefts[i], rights[j]) for i, j in _greedy(scores)]

    def _likeness(self, x: int, y: int) -> float:
        """0 to 2: how alike two things' names, types and contents are."""
        (kind, name, detail), (other_kind, other_name, other_detail) = self.a.key[x], self.b.key[y]
        if kind != other_kind:
            return 0.0
        if kind in _HOLDERS and detail != other_detail:
            return 0.0
        inside, outside = self._contents(self.a, x), self._contents(self.b, y)
        content = _dice(inside, outside) if inside or outside else 0.0
        if kind == Kind.CELL:
            content = float(detail == other_detail)
        return _ratio(*sorted((name, other_name))) * (kind not in _HOLDERS) + content

    def _moved_cells(self) -> None:
        """Match cells without a counterpart that have one elsewhere, outermost first."""
        lefts = _grouped(self.a, self._outermost(self.a))
        rights = _grouped(self.b, self._outermost(self.b))
        for key in sorted(lefts.keys() & rights.keys()):
            for x, y in zip(lefts[key], rights[key], strict=False):
                self._pair(x, y)

    @staticmethod
    def _outermost(side: _Side) -> list[int]:
        lost: list[bool] = []  # whether a cell at or above the path has no counterpart
        result = []
        for path, parent in enumerate(side.parent):
            inherited = lost[parent] if parent >= 0 else False
            alone = side.kind[path] in _BOUNDARY and side.partner[path] < 0
            if alone and not inherited:
                result.append(path)
            lost.append(inherited or alone)
        return result


def _grouped(side: _Side, paths: Iterable[int]) -> dict[_Key, list[int]]:
    result: dict[_Key, list[int]] = defaultdict(list)
    for path in paths:
        result[side.key[path]].append(path)
    return result


def _dice(a: Counter[_Key], b: Counter[_Key]) -> float:
    """1 for equal contents, 0 for nothing in common."""
    size = a.total() + b.total()
    return 2 * (a & b).total() / size if size else 1.0


@cache
def _ratio(a: str, b: str) -> float:
    # Names can be as long as a page; their likeness shows in the first words.
    return SequenceMatcher(None, a[:80], b[:80]).ratio()


def _greedy(
    scores: dict[tuple[int, int], float], left: Sequence[int] = (), right: Sequence[int] = ()
) -> list[tuple[int, int]]:
    """Pairs with the best scores, none used twice; of equals those of nearest heights and places.

    Equally good pairs that overlap differ in the distance or the sum of their places, so the
    choice is the same from either side.
    """

    def rank(pair: tuple[int, int]) -> tuple[float, int, int, int]:
        i, j = pair
        tilt = abs(left[i] - right[j]) if left else 0
        return -scores[pair], tilt, abs(i - j), i + j

    taken: tuple[set[int], set[int]] = (set(), set())
    result = []
    for i, j in sorted(scores, key=rank):
        if i not in taken[0] and j not in taken[1]:
            taken[0].add(i)
            taken[1].add(j)
            result.append((i, j))
    return sorted(result)
