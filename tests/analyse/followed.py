"""Programs outside the examples, on each of which advice is followed by hand.

`benches/bench_advice.py` runs all of them and prints a table; the tests run parts. A program is a C
file in `programs/`, or a generated Calyx one (`calyx_programs.py`). With a macro the finding is
followed; with REWRITTEN it says the same in other words: `while` for `for`, other names, subscripts
in variables.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from calyx_programs import data, text

from cyclescope.analyse import advise

if TYPE_CHECKING:
    from calyx_programs import CalyxCase

    from cyclescope.analyse import Advice
    from cyclescope.model import Profile

__all__ = [
    "BOUNDS",
    "HLS",
    "RECORDED",
    "Case",
    "bounded",
    "calyx_run",
    "findings",
    "measured",
    "recorded",
]

_FOLDER = Path(__file__).parent / "programs"
RECORDED = Path(__file__).parent / "data" / "followed"
"""Where `benches/bench_advice.py --record` keeps profiles of hardware."""


class Case(NamedTuple):
    """A finding on a program, and how it is followed.

    Attributes:
        rule: its name.
        program: the file's, without its suffix.
        change: the macro with which the finding is followed, `NAME` or `NAME=value`.
        kind: of the program's several kinds; 0 if it has but one.
        start_cost: cycles that the host needs for each thread.
    """

    rule: str
    program: str
    change: str
    kind: int = 0
    start_cost: int = 1

    @property
    def name(self) -> str:
        """The program's, for people."""
        return f"{self.program} {self.kind}" if self.kind else self.program

    def file(self, variant: str) -> str:
        """A name for its profile: as it is `plain`, `followed`, or `rewritten`."""
        change = f"-{self.change.partition('=')[0].lower()}" if variant == "followed" else ""
        return f"{self.name.replace(' ', '-')}-{variant}{change}"

    def defines(self, variant: str) -> dict[str, str]:
        """The macros of a variant."""
        macros = {"plain": "", "followed": self.change, "rewritten": "REWRITTEN"}
        name, _, value = macros[variant].partition("=")
        kind = {"KIND": str(self.kind)} if self.kind else {}
        return kind | ({name: value or "1"} if name else {})


def _kinds(rule: str, program: str, change: str, kinds: int, start_cost: int = 1) -> list[Case]:
    return [Case(rule, program, change, kind, start_cost) for kind in range(1, kinds + 1)]


HLS = (
    *(Case("narrow-loads", p, "VECTOR") for p in ("nearest", "matvec", "taps", "pairs")),
    *(Case("blocking", p, "LOCAL") for p in ("nearest", "weights", "pairs", "distances")),
    *(Case("critical-section", p, "PRIVATE") for p in ("energy", "bins", "largest", "counts")),
    *_kinds("double-buffering", "blocks", "BUFFERS", 3),
    Case("double-buffering", "blocks_copied", "BUFFERS"),
    *_kinds("imbalance", "shares", "CYCLIC", 4),
    *_kinds("thread-start", "starts", "THREADS=2", 4, 2500),
)
BOUNDS = tuple(
    Case("late-operand", program, "FOLLOWED")
    for program in ("eliminate", "products", "averages", "transposed")
)


def findings(profile: Profile) -> dict[str, Advice]:
    """The advice on a profile, by rule."""
    return {advice.rule.name: advice for advice in advise(profile)}


def measured(case: Case, variant: str) -> Profile:
    """Hardware that is built and run."""
    from cyclescope.hls import compile_c
    from cyclescope.hls.run._measure import measure

    program = compile_c(_FOLDER / f"{case.program}.c", defines=case.defines(variant))
    result = measure(program, start_cost=case.start_cost, period=65536)
    assert result.agrees, result.differing
    return result.profile


def recorded(case: Case) -> tuple[Profile, int, Profile]:
    """A program as it is, its cycles with the finding followed, and it in other words; recorded."""
    from cyclescope.model import load

    plain, rewritten = (load(RECORDED / f"{case.file(v)}.cyc") for v in ("plain", "rewritten"))
    cycles: dict[str, int] = json.loads((RECORDED / "cycles.json").read_text("utf-8"))
    return plain, cycles[case.file("followed")], rewritten


def bounded(case: Case, variant: str) -> Profile:
    """An absolute estimate."""
    from cyclescope.bounds import estimate, profile_of

    source = _FOLDER / f"{case.program}.c"
    found = estimate(source, defines=case.defines(variant), detail=True)
    return profile_of(found, found.absolute)


def calyx_run(case: CalyxCase, variant: str, folder: Path) -> Profile:
    """A Calyx design that is built and run."""
    from cyclescope.calyx import CalyxOptions, profile_program

    program, values = folder / f"{variant}.futil", folder / "data.json"
    program.write_text(text(case, variant), "utf-8")
    values.write_text(json.dumps(data(case)), "utf-8")
    options = CalyxOptions(disable=case.disable[variant == "followed"])
    return profile_program(program, values, options).profile
