"""A study: what is run, what varies, what is wanted. Read from a TOML file, everything checked.

[study]
command = "calyx"             # a source: what `cyclescope COMMAND` makes a profile of
input = "program.futil"       # its argument; may be in [space] instead
files = ["lib.futil"]         # what runs read besides
search = "grid"               # grid, random, optuna
trials = 20                   # random, optuna
seed = 0
objectives = ["cycles", "area", "max useful"]
time_limit = 600              # seconds for one run
[fixed]                       # options of the command
data = "program.json"
[space]                       # options that vary: choices, or a range of integers
disable-pass = [[], ["cell-share"]]
"D.N" = { from = 8, to = 64, step = 8 }     # -D N=8, -D N=16 …
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclescope._files import parse_toml, read_text
from cyclescope.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Objective", "Option", "Study", "read_study"]

SEARCHES = ("grid", "random", "optuna")
_KEYS = {"command", "input", "files", "search", "trials", "seed", "objectives", "time_limit"}
# What would let a study run programs of its choice.
PROGRAMS = frozenset({"compiler", "library", "trust", "confine", "time-limit"})
_MOST = 100_000  # values of a range, points of a grid


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a command.

    Attributes:
        flag: as it is written, `--threads`.
        off: what turns a switch off, empty if there is nothing to write.
        switch: it has no value.
        multiple: it may be given several times.
        path: its value names a file that the run reads.
        wanted: a switch that is on in a study that does not say otherwise.
    """

    flag: str
    off: str
    switch: bool
    multiple: bool
    path: bool
    wanted: bool = False


@dataclass(frozen=True, slots=True)
class Objective:
    """A figure of a run, and which way is better."""

    name: str
    largest: bool = False

    def better(self, a: float, b: float) -> bool:
        """Return whether `a` is better than `b`."""
        return a > b if self.largest else a < b


@dataclass(frozen=True)
class Study:
    """The contents of a study file.

    Attributes:
        path: the file; other paths are relative to its folder.
        command, options: the source's command, and its options by name.
        input: the argument, None if it varies.
        files: further files that runs read.
        fixed: option → value.
        space: option (or `input`) → its choices.
        search, trials, seed: how points are chosen, how many, and from which seed.
        objectives: what is wanted, the first first.
        time_limit: seconds for one run.
    """

    path: Path
    command: str
    options: Mapping[str, Option]
    input: str | None
    files: tuple[str, ...]
    fixed: dict[str, Any]
    space: dict[str, tuple[Any, ...]]
    search: str = "grid"
    trials: int = 0
    seed: int = 0
    objectives: tuple[Objective, ...] = (Objective("cycles"),)
    time_limit: float = 3600.0

    @property
    def points(self) -> int:
        """The number of points of the space."""
        result = 1
        for choices in self.space.values():
            result *= len(choices)
        return result


def read_study(path: Path, commands: Mapping[str, Mapping[str, Option]]) -> Study:
    """Read a study file.

    Args:
        path: the file.
        commands: the sources' commands, with their options.

    Raises:
        InputError: it is absent or not TOML, or says something that makes no sense.
    """
    try:
        text = read_text(path)
        content = parse_toml(text)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{path}: not a study: {error}") from None
    return _Reader(path, content, commands).study()


class _Reader:
    def __init__(
        self,
        path: Path,
        content: dict[str, Any],
        commands: Mapping[str, Mapping[str, Option]],
    ) -> None:
        self._path, self._content, self._commands = path, content, commands

    def _fail(self, what: str) -> InputError:
        return InputError(f"{self._path}: {what}")

    def _table(self, name: str) -> dict[str, Any]:
        table = self._content.get(name, {})
        if not isinstance(table, dict):
            raise self._fail(f"[{name}] must be a table")
        return table

    def study(self) -> Study:
        odd = sorted(self._content.keys() - {"study", "fixed", "space"})
        if odd:
            raise self._fail(f"unknown table [{odd[0]}]; there are [study], [fixed], [space]")
        head = self._table("study")
        odd = sorted(head.keys() - _KEYS)
        if odd:
            raise self._fail(f"unknown key {odd[0]}; there are {', '.join(sorted(_KEYS))}")
        command = str(head.get("command", ""))
        if command not in self._commands:
            raise self._fail(f"command must be one of {', '.join(self._commands)}")
        options = self._commands[command]
        space = {name: self._choices(name, value) for name, value in self._table("space").items()}
        fixed = self._table("fixed")
        for name, values in [*((n, [v]) for n, v in fixed.items()), *space.items()]:
            self._known(name, options)
            for value in values:
                self._fits(name, value, options)
        both = sorted(fixed.keys() & space.keys())
        if both:
            raise self._fail(f"{both[0]} is fixed and varies; keep one")
        if not space:
            raise self._fail("[space] is empty: nothing varies")
        said = fixed.keys() | space.keys()
        always = {n: True for n, option in options.items() if option.wanted and n not in said}
        return self._whole(head, command, options, {**always, **fixed}, space)

    def _whole(
        self,
        head: dict[str, Any],
        command: str,
        options: Mapping[str, Option],
        fixed: dict[str, Any],
        space: dict[str, tuple[Any, ...]],
    ) -> Study:
        source = head.get("input")
        if (source is None) == ("input" not in space):
            raise self._fail("give the input once: in [study] or in [space]")
        search = head.get("search", "grid")
        if search not in SEARCHES:
            raise self._fail(f"search must be one of {', '.join(SEARCHES)}")
        study = Study(
            path=self._path,
            command=command,
            options=options,
            input=None if source is None else self._text("input", source),
            files=tuple(self._text("files", name) for name in self._list(head, "files", [])),
            fixed=fixed,
            space=space,
            search=search,
            trials=self._number(head, "trials", 0, least=0),
            seed=self._number(head, "seed", 0, least=0),
            objectives=self._objectives(head),
            time_limit=float(self._number(head, "time_limit", 3600, least=1)),
        )
        if search == "grid" and study.points > _MOST:
            raise self._fail(
                f"the grid has {study.points:,} points; search at random, or vary less"
            )
        if search != "grid" and not study.trials:
            raise self._fail(f"search = '{search}' needs trials = N")
        return study

    def _choices(self, name: str, value: Any) -> tuple[Any, ...]:
        if isinstance(value, dict):
            if not {"from", "to"} <= value.keys() <= {"from", "to", "step"}:
                raise self._fail(f"{name}: a range is {{ from = 1, to = 8, step = 1 }}")
            first, last, step = value["from"], value["to"], value.get("step", 1)
            if not all(type(n) is int for n in (first, last, step)) or step < 1 or last < first:
                raise self._fail(f"{name}: a range goes up in whole numbers")
            if (last - first) // step >= _MOST:
                raise self._fail(f"{name}: more than {_MOST:,} values")
            return tuple(range(first, last + 1, step))
        if not isinstance(value, list) or not value:
            raise self._fail(f"{name}: give a list of choices, or a range")
        texts = [json.dumps(choice, default=str) for choice in value]
        if len(set(texts)) < len(texts):
            raise self._fail(f"{name}: two choices are alike")
        return tuple(value)

    def _known(self, name: str, options: Mapping[str, Option]) -> None:
        if name == "input":
            return
        if name.split(".")[0] in PROGRAMS:
            raise self._fail(
                f"{name}: a study names no program and allows nothing; give it at the command line"
                " (for a Calyx compiler: CALYX=PATH cyclescope sweep …)"
            )
        if name.split(".")[0] not in options:
            near = ", ".join(sorted(options))
            raise self._fail(f"{name}: no such option; there are {near}")

    def _fits(self, name: str, value: Any, options: Mapping[str, Option]) -> None:
        """Return whether a value can be written for an option."""
        if name == "input":
            self._text(name, value)
            return
        option = options[name.split(".")[0]]
        values = value if isinstance(value, list) else [value]
        if isinstance(value, list) and not option.multiple:
            raise self._fail(f"{name}: takes one value, not a list")
        if option.switch != (type(value) is bool):
            wanted = "true or false" if option.switch else "a text or number"
            raise self._fail(f"{name}: {json.dumps(value, default=str)} is not {wanted}")
        for item in values:
            if type(item) not in (str, int, float, bool):
                raise self._fail(f"{name}: {json.dumps(item, default=str)} is no text or number")
            if option.path:
                self._text(name, item)

    def _text(self, name: str, value: Any) -> str:
        if not isinstance(value, str) or not value or Path(value).is_absolute():
            raise self._fail(f"{name}: must name files below the study's folder")
        if ".." in Path(value).parts:
            raise self._fail(f"{name}: {value} leaves the study's folder")
        return value

    def _list(self, table: dict[str, Any], name: str, default: list[str]) -> list[str]:
        value = table.get(name, default)
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self._fail(f"{name} must be a list of texts")
        return value

    def _number(self, table: dict[str, Any], name: str, default: int, *, least: int) -> int:
        value = table.get(name, default)
        if type(value) is not int or not least <= value <= 10**9:
            raise self._fail(f"{name} must be a whole number from {least} to 1,000,000,000")
        return value

    def _objectives(self, head: dict[str, Any]) -> tuple[Objective, ...]:
        result = []
        for text in self._list(head, "objectives", ["cycles"]):
            direction, _, name = text.rpartition(" ")
            if direction.strip() not in ("", "min", "max") or not name:
                raise self._fail(f"objective '{text}': write a figure, with max before it or not")
            result.append(Objective(name, direction.strip() == "max"))
        if not result or len({o.name for o in result}) < len(result):
            raise self._fail("objectives must be different figures, at least one")
        return tuple(result)
