"""Random Calyx programs in which the length of each group is data, to time them anew for real.

    python tests/analyse/timed_programs.py FIRST-LAST

For each seed a program is built once and run with many lengths: the slack that `critical` gives
each group is inserted (the total must stay), one cycle more (it must rise), and lengths are drawn
at random (the total must be the one foretold). Exits with 1 if one is wrong.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from cyclescope.analyse import activations, critical, parse_lengths, retimed
from cyclescope.calyx import profile_program
from cyclescope.model import Kind

if TYPE_CHECKING:
    from cyclescope.analyse import Key
    from cyclescope.model import Profile

_HEAD = """\
import "primitives/core.futil";
import "primitives/memories/comb.futil";
import "primitives/binary_operators.futil";
"""
_LONGEST = 256  # cycles of a group that counts to 8 bits
_WORKER = """\
component worker(n: 8) -> () {
  cells { c = std_reg(8); f = std_reg(1); r = std_reg(8); add = std_add(8); at = std_eq(8); }
  wires {
    f.write_en = 1'd1;
    add.left = c.out; add.right = 8'd1;
    at.left = c.out; at.right = n;
    group count { c.write_en = 1'd1; c.in = !at.out ? add.out; c.in = at.out ? 8'd0;
      f.in = at.out; count[done] = f.out; }
    group keep { r.write_en = 1'd1; r.in = n; keep[done] = r.done; }
  }
  control { seq { keep; count; keep; } }
}
"""


@dataclass
class TimedProgram:
    """A program, and the memory that has the length of each counting group.

    Attributes:
        text: in Calyx.
        lengths: what each group counts to, by its memory.
        groups: the instance and the name of each memory's group.
    """

    text: str = ""
    lengths: dict[str, int] = field(default_factory=dict)
    groups: dict[str, tuple[str, str]] = field(default_factory=dict)

    def write(self, folder: Path, **lengths: int) -> tuple[Path, Path]:
        """Write the program and its data, with some other lengths; the paths of both."""
        number = {"numeric_type": "bitnum", "is_signed": False, "width": 8}
        both = {**self.lengths, **lengths}
        data = {memory: {"data": [n], "format": number} for memory, n in both.items()}
        path, given = folder / "timed.futil", folder / "timed.json"
        path.write_text(self.text)
        given.write_text(json.dumps(data))
        return path, given


class _Maker:
    """Makes a program from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.program = TimedProgram()
        self.cells: list[str] = []
        self.wires: list[str] = []

    def _counter(self) -> int:
        n = len(self.program.lengths)
        self.program.lengths[f"k{n}"] = self.random.randint(1, 6)
        self.cells.append(f"@external k{n} = comb_mem_d1(8, 1, 1);")
        return n

    def group(self) -> str:
        """A new group that counts to the number in a memory of its own, as an enable."""
        n = self._counter()
        self.program.groups[f"k{n}"] = ("main", f"g{n}")
        self.cells += [
            f"c{n} = std_reg(8); f{n} = std_reg(1); add{n} = std_add(8); at{n} = std_eq(8);"
        ]
        # The flag falls by itself, a cycle after it rose.
        self.wires += [
            f"f{n}.write_en = 1'd1;",
            f"add{n}.left = c{n}.out; add{n}.right = 8'd1;",
            f"at{n}.left = c{n}.out; at{n}.right = k{n}.read_data;",
            f"group g{n} {{ k{n}.addr0 = 1'd0; c{n}.write_en = 1'd1;",
            f"  c{n}.in = !at{n}.out ? add{n}.out; c{n}.in = at{n}.out ? 8'd0;",
            f"  f{n}.in = at{n}.out; g{n}[done] = f{n}.out; }}",
        ]
        return f"g{n};"

    def call(self) -> str:
        """A call of a component that counts to the number in a memory."""
        n = self._counter()
        self.program.groups[f"k{n}"] = (f"main.w{n}", "count")
        self.cells.append(f"w{n} = worker();")
        return f"invoke w{n}(n = k{n}.read_data)();"

    def write(self) -> str:
        """A group of one cycle."""
        n = len(self.cells)
        self.cells.append(f"r{n} = std_reg(8);")
        self.wires.append(
            f"group s{n} {{ r{n}.in = 8'd1; r{n}.write_en = 1'd1; s{n}[done] = r{n}.done; }}"
        )
        return f"s{n};"

    def control(self, depth: int) -> str:
        """A statement of cells of its own, so that no two arms of a `par` share any."""
        leaves = [self.group, self.group, self.call, self.write]
        if not depth or self.random.random() < 0.2:
            return self.random.choice(leaves)()
        kind = self.random.choice(["seq", "seq", "par", "par", "repeat", "if"])
        count = {"repeat": 1, "if": 2}.get(kind, self.random.randint(2, 3))
        some = [self.control(depth - 1) for _ in range(count)]
        if kind == "seq" and self.random.random() < 0.5:
            some.append(self.random.choice(some))  # what has run may run again
        if kind == "repeat":
            return f"repeat {self.random.randint(2, 4)} {{ {some[0]} }}"
        if kind == "if":
            return f"if yes.out {{ {some[0]} }} else {{ {some[1]} }}"
        return f"{kind} {{ {' '.join(some)} }}"


def timed_program(seed: int) -> TimedProgram:
    """The program of a seed."""
    maker = _Maker(seed)
    control = f"seq {{ {maker.write()} par {{ {maker.control(3)} {maker.control(3)} }} }}"
    maker.program.text = (
        f"{_HEAD}{_WORKER}component main() -> () {{\n  cells {{\n    yes = std_const(1, 1);\n    "
        + "\n    ".join(maker.cells)
        + "\n  }\n  wires {\n    "
        + "\n    ".join(maker.wires)
        + f"\n  }}\n  control {{ {control} }}\n}}\n"
    )
    return maker.program


@dataclass(frozen=True)
class Foretold:
    """A run with other lengths: the cycles that were foretold, and those that it takes."""

    what: str
    foretold: int
    simulated: int

    @property
    def right(self) -> bool:
        """Return whether they are equal."""
        return self.foretold == self.simulated


def foretell(seed: int, folder: Path, *, most: int) -> list[Foretold]:
    """Foretell runs of a seed's program, and run them.

    Args:
        seed: of the program.
        folder: for its files.
        most: at most so many groups have their slack inserted; the others are drawn.
    """
    program = timed_program(seed)

    def run(**lengths: int) -> Profile:
        path, data = program.write(folder, **lengths)
        return profile_program(path, data).profile

    base = run()
    found: list[Foretold] = []
    draw = random.Random(seed)
    for _ in range(2):
        new = {memory: draw.randint(1, 12) for memory in program.lengths}
        changes = [
            f"{instance}/{name} = {new[memory] + 1}"
            for memory, (instance, name) in program.groups.items()
            if _ran(base, instance, name)
        ]
        (total,) = retimed(base, parse_lengths(base, changes)).totals
        found.append(Foretold("drawn", total, run(**new).cycles))
    there = [m for m, (i, n) in program.groups.items() if _ran(base, i, n)]
    for memory in draw.sample(there, min(most, len(there))):
        instance, name = program.groups[memory]
        length = program.lengths[memory] + 1
        curve = parse_lengths(base, [f"{instance}/{name} = {length}..{_LONGEST}"])
        totals = retimed(base, curve).totals
        slack = sum(total == base.cycles for total in totals) - 1
        if length + slack >= _LONGEST:
            continue  # more than its memory can say
        own = [f for f in critical(base).frames if _is(base, f.key, instance, name)]
        if len(own) == 1:
            assert own[0].slack == slack
        for more in (slack, slack + 1):
            simulated = run(**{memory: program.lengths[memory] + more}).cycles
            found.append(Foretold(f"{name} + {more} of {slack}", totals[more], simulated))
    return found


def _is(profile: Profile, key: Key, instance: str, name: str) -> bool:
    frame = profile.catalog[key[0]]
    return (
        key[1] == instance and frame.kind is Kind.GROUP and name in (frame.name, frame.definition)
    )


def _ran(profile: Profile, instance: str, name: str) -> bool:
    return any(_is(profile, key, instance, name) for key in activations(profile))


def main() -> int:
    first, _, last = sys.argv[1].partition("-")
    tally = {True: 0, False: 0}
    for seed in range(int(first), int(last or first) + 1):
        with tempfile.TemporaryDirectory() as folder:
            found = foretell(seed, Path(folder), most=3)
        for one in found:
            tally[one.right] += 1
            if not one.right:
                print(f"{seed}: {one.what}: foretold {one.foretold}, simulated {one.simulated}")
    print(f"{tally[True]} runs as foretold, {tally[False]} not")
    return int(bool(tally[False]))


if __name__ == "__main__":
    sys.exit(main())
