"""Results that a run must have: a file of memories, in the form of the data or of Calyx's tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cyclescope.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cyclescope.calyx._source import CalyxRun
    from cyclescope.model import Profile
    from cyclescope.sim import Difference, Memory

__all__ = ["Expected", "read_expected"]


@dataclass(frozen=True)
class Expected:
    """The result that a run must leave.

    Attributes:
        path: the file that says so.
        memories: name → its data, nested lists, or an object with `data` and `format`.
        cycles: how long it must take; None if the file does not say.
    """

    path: Path
    memories: Mapping[str, object]
    cycles: int | None

    def differences(
        self, memories: Sequence[Memory], found: Mapping[str, object]
    ) -> tuple[Difference, ...]:
        """The differences of memories; those that the file does not name are not compared.

        Args:
            memories: the design's.
            found: name → data and format, after the run.

        Raises:
            DataError: the file names a memory that the design lacks, or is of another shape.
        """
        from cyclescope.sim import differences

        known = {memory.name: memory for memory in memories}
        if unknown := [name for name in self.memories if name not in known]:
            have = ", ".join(known) or "none"
            raise DataError(
                f"{self.path}: {', '.join(unknown)}: the design has no such external memory (it has"
                f" {have}); remove it, or correct the name"
            )
        expected = {name: self._entry(name, found) for name in self.memories}
        try:
            return differences([known[name] for name in expected], found, expected)
        except DataError as error:
            raise DataError(f"{self.path}: {error}") from None

    def marked(self, run: CalyxRun) -> Profile:
        """A run's profile that says which memories are not as expected."""
        from cyclescope.model import Anomaly, Severity
        from cyclescope.sim import memory_digest

        profile = run.profile
        if not run.memories:
            return profile
        wrong = {d.memory: d for d in self.differences(run.declared, run.memories)}
        expected = {name: self._entry(name, run.memories) for name in self.memories}
        digests = {
            memory.name: memory_digest(memory, expected[memory.name])
            for memory in run.declared
            if memory.name in expected
        }
        notes = [
            Anomaly("wrong memory", Severity.ERROR, d.words, d.told("expected"))
            for d in wrong.values()
        ]
        return profile.with_meta(
            memories=tuple(
                replace(c, expected=digests.get(c.memory, c.expected))
                for c in profile.meta.memories
            ),
            anomalies=(*profile.meta.anomalies, *notes),
        )

    def _entry(self, name: str, found: Mapping[str, object]) -> object:
        """A memory's expected data; in the form of the run's if the file does not say."""
        entry, after = self.memories[name], found[name]
        assert isinstance(after, dict)
        whole = isinstance(entry, dict) and "format" in entry
        return entry if whole else {"data": entry, "format": after["format"]}


def read_expected(path: Path) -> Expected:
    """Read a file of expected memories.

    Three forms are known: the data's, `{"m": {"data": [...], "format": {...}}}`; that of Calyx's
    tests, `{"m": [...]}`; and the whole output of a run of theirs,
    `{"cycles": 9, "memories": {"m": [...]}}`.

    Raises:
        DataError: it cannot be read, or is none of these.
    """
    from cyclescope.sim import read_data

    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeError):
        text = ""
    if text.startswith("---CODE---"):
        raise DataError(
            f"{path}: is the output of a command that failed (---CODE---), not memories; name the"
            " file of a run that ended"
        )
    content: dict[str, object] = dict(read_data(path))
    cycles = content.get("cycles")
    if isinstance(cycles, int) and not isinstance(cycles, bool):
        del content["cycles"]
    else:
        cycles = None
    inner = content.get("memories")
    if isinstance(inner, dict) and "data" not in inner:
        if len(content) > 1:
            odd = next(name for name in content if name != "memories")
            raise DataError(f"{path}: {odd} is beside `memories`; put it inside, or remove it")
        content = inner
    for name, entry in content.items():
        if not isinstance(entry, list | dict):
            raise DataError(f"{path}: {name}: a memory's data is expected here: a list")
    if not content and cycles is None:
        raise DataError(f"{path}: names no memory; there is nothing to compare")
    return Expected(path, content, cycles)
